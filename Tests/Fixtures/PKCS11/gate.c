// A PKCS #11 module for tests: SoftHSM's, but each signature waits while the file that GATE_FILE names exists, as an HSM
// waits that has stopped answering. Each that waits says so in the file GATE_FILE.waiting.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long (*sign_function)(unsigned long, void *, unsigned long, void *, unsigned long *);
typedef unsigned long (*list_function)(void **);

// C_Sign's place among the functions, which begin behind the version.
enum { COUNT = 68, SIGN = 43 };

static struct { unsigned char version[8]; void *functions[COUNT]; } list;
static sign_function sign;

static unsigned long gated_sign(unsigned long session, void *data, unsigned long length, void *signature, unsigned long *room) {
    const char *gate = getenv("GATE_FILE");
    if (gate != NULL && access(gate, F_OK) == 0) {
        char name[4096];
        snprintf(name, sizeof name, "%s.waiting", gate);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (descriptor >= 0) {
            if (write(descriptor, ".", 1) < 0) return 5;
            close(descriptor);
        }
        while (access(gate, F_OK) == 0) usleep(2000);
    }
    return sign(session, data, length, signature, room);
}

unsigned long C_GetFunctionList(void **out) {
    void *library = dlopen("/usr/lib/softhsm/libsofthsm2.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 5;
    list_function get = (list_function)dlsym(library, "C_GetFunctionList");
    void *original = NULL;
    if (get == NULL || get(&original) != 0) return 5;
    memcpy(&list, original, sizeof list);
    sign = (sign_function)list.functions[SIGN];
    list.functions[SIGN] = (void *)gated_sign;
    *out = &list;
    return 0;
}
