// Stands between a program and the files below one directory: counts its system calls on them, writes each down, and ends the
// program, holds it up or makes the call fail at the one it was told. Loaded by LD_PRELOAD; needs no privilege.
//
//   FILE_CALLS_UNDER  the directory; calls on it and on whatever is below count
//   FILE_CALLS_LOG    where the calls are written, a line each: NUMBER NAME RESULT ARGUMENTS, with paths relative to the directory, octets
//                     in hexadecimal, and -ERRNO as the result of a call that failed. What the program prints is there too, as "0 say".
//   FILE_CALLS_KILL   N: the program ends right before its Nth call
//   FILE_CALLS_FAIL   N:ERRNO: its Nth call is not made and gives that error; N:short: the Nth, a write, takes half of the octets
//   FILE_CALLS_HOLD   N: it waits right before its Nth call, having printed "held", until FILE_CALLS_GATE, a named pipe, is written to
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { PATH_LENGTH = 4096 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long calls;

static const char *setting(const char *name) {
    const char *text = getenv(name);
    return text ? text : "";
}

// The part of an absolute path below the directory ("." for itself), or NULL for any other.
static const char *below(const char *path) {
    const char *directory = setting("FILE_CALLS_UNDER");
    size_t length = strlen(directory);
    if (!length || strncmp(path, directory, length)) return NULL;
    if (!path[length]) return ".";
    return path[length] == '/' ? path + length + 1 : NULL;
}

static bool path_of(int file, char *path) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_LENGTH - 1);
    if (length < 0) return false;
    path[length] = 0;
    return true;
}

// `name` as seen from an open directory, as an absolute path; "." and ".." only as a whole name.
static bool resolve(int directory, const char *name, char *path) {
    if (name[0] == '/') return snprintf(path, PATH_LENGTH, "%s", name) < PATH_LENGTH;
    if (directory == AT_FDCWD ? !getcwd(path, PATH_LENGTH) : !path_of(directory, path)) return false;
    if (!strcmp(name, ".")) return true;
    if (!strcmp(name, "..")) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
        return slash != NULL;
    }
    size_t length = strlen(path);
    return (size_t)snprintf(path + length, PATH_LENGTH - length, "/%s", name) < PATH_LENGTH - length;
}

static void note(long number, const char *name, long result, const char *first, const char *second, const void *octets, size_t count) {
    static char line[1 << 20];
    int log = (int)syscall(SYS_openat, AT_FDCWD, setting("FILE_CALLS_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0) return;
    int length = snprintf(line, sizeof line / 2, "%ld %s %ld %s %s", number, name, result, first, second);
    for (size_t at = 0; at < count && (size_t)length + 4 < sizeof line; at++)
        length += snprintf(line + length, 3, "%02x", ((const unsigned char *)octets)[at]);
    line[length++] = '\n';
    syscall(SYS_write, log, line, length);
    syscall(SYS_close, log);
}

// Called with the turn taken, before a call that counts. Gives its number, and what to do with it: 0 make it, -1 halve it, else the error.
static long count(int *fault) {
    long number = ++calls;
    *fault = 0;
    if (atol(setting("FILE_CALLS_KILL")) == number) {
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    if (atol(setting("FILE_CALLS_HOLD")) == number) {
        char octet;
        syscall(SYS_write, STDOUT_FILENO, "held\n", 5);
        int gate = (int)syscall(SYS_openat, AT_FDCWD, setting("FILE_CALLS_GATE"), O_RDONLY | O_CLOEXEC);
        syscall(SYS_read, gate, &octet, 1);
        syscall(SYS_close, gate);
    }
    const char *colon = strchr(setting("FILE_CALLS_FAIL"), ':');
    if (colon && atol(setting("FILE_CALLS_FAIL")) == number) *fault = strcmp(colon, ":short") ? atoi(colon + 1) : -1;
    return number;
}

// Makes the call `expression` of the given name, unless it is to fail, and writes it down. `errno` is left as the call left it.
#define MAKE(type, name, first, second, octets, taken, expression)                           \
    type result;                                                                             \
    int fault;                                                                               \
    pthread_mutex_lock(&turn);                                                               \
    long number = count(&fault);                                                             \
    if (fault > 0) {                                                                         \
        errno = fault;                                                                       \
        result = -1;                                                                         \
    } else {                                                                                 \
        result = (expression);                                                               \
    }                                                                                        \
    int kept = errno;                                                                        \
    note(number, name, result < 0 ? -(long)kept : (long)result, first, second, octets, taken); \
    pthread_mutex_unlock(&turn);                                                             \
    errno = kept;                                                                            \
    return result

static int open_below(int directory, const char *name, int flags, mode_t mode, const char *path) {
    const char *kind = flags & O_CREAT ? (flags & O_EXCL ? "create" : "ensure") : flags & O_TRUNC ? "cut" : "open";
    MAKE(int, kind, path, "", NULL, 0, (int)syscall(SYS_openat, directory, name, flags, mode));
}

static int opened(int directory, const char *name, int flags, mode_t mode) {
    char path[PATH_LENGTH];
    if (!resolve(directory, name, path) || !below(path)) return (int)syscall(SYS_openat, directory, name, flags, mode);
    return open_below(directory, name, flags, mode, below(path));
}

#define MODE                                                \
    mode_t mode = 0;                                        \
    if (flags & (O_CREAT | O_TMPFILE)) {                    \
        va_list rest;                                       \
        va_start(rest, flags);                              \
        mode = va_arg(rest, mode_t);                        \
        va_end(rest);                                       \
    }

int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int openat(int directory, const char *name, int flags, ...) { MODE return opened(directory, name, flags, mode); }
int openat64(int directory, const char *name, int flags, ...) { MODE return opened(directory, name, flags, mode); }

// A call on an open file. `short_count` is what a halved call is given.
#define ON_FILE(type, name, file, octets, taken, expression)               \
    char path[PATH_LENGTH];                                                \
    if (!path_of(file, path) || !below(path)) return (expression);         \
    char text[32];                                                         \
    snprintf(text, sizeof text, "%d", file);                               \
    MAKE(type, name, text, "", octets, taken, expression)

ssize_t write(int file, const void *octets, size_t length) {
    if (file == STDOUT_FILENO && *setting("FILE_CALLS_LOG")) {
        pthread_mutex_lock(&turn);
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)strcspn((const char *)octets, "\n"), (const char *)octets);
        note(0, "say", 0, text, "", NULL, 0);
        pthread_mutex_unlock(&turn);
    }
    char path[PATH_LENGTH];
    if (!path_of(file, path) || !below(path)) return syscall(SYS_write, file, octets, length);
    char text[32];
    snprintf(text, sizeof text, "%d", file);
    MAKE(ssize_t, "write", text, "", octets, result > 0 ? (size_t)result : 0,
         syscall(SYS_write, file, octets, fault < 0 ? (length + 1) / 2 : length));
}

ssize_t pwrite(int file, const void *octets, size_t length, off_t offset) {
    ON_FILE(ssize_t, "pwrite", file, NULL, 0, syscall(SYS_pwrite64, file, octets, length, offset));
}
ssize_t read(int file, void *octets, size_t length) { ON_FILE(ssize_t, "read", file, NULL, 0, syscall(SYS_read, file, octets, length)); }
int fsync(int file) { ON_FILE(int, "fsync", file, NULL, 0, (int)syscall(SYS_fsync, file)); }
int fdatasync(int file) { ON_FILE(int, "fdatasync", file, NULL, 0, (int)syscall(SYS_fdatasync, file)); }
int ftruncate(int file, off_t length) { ON_FILE(int, "ftruncate", file, NULL, 0, (int)syscall(SYS_ftruncate, file, length)); }
int flock(int file, int how) { ON_FILE(int, "flock", file, NULL, 0, (int)syscall(SYS_flock, file, how)); }
int fstat(int file, struct stat *status) { ON_FILE(int, "fstat", file, NULL, 0, NEXT(fstat)(file, status)); }
int fchmod(int file, mode_t mode) { ON_FILE(int, "fchmod", file, NULL, 0, (int)syscall(SYS_fchmod, file, mode)); }
int close(int file) { ON_FILE(int, "close", file, NULL, 0, (int)syscall(SYS_close, file)); }

// A call on one or two names.
static bool both(int from, const char *old, char *first, int to, const char *new, char *second) {
    return resolve(from, old, first) && resolve(to, new, second) && (below(first) || below(second));
}
static const char *shown(const char *path) { return below(path) ? below(path) : "/"; }

#define ON_NAME(name, directory, given, expression)                                    \
    char path[PATH_LENGTH];                                                            \
    if (!resolve(directory, given, path) || !below(path)) return (expression);         \
    MAKE(int, name, below(path), "", NULL, 0, expression)

#define ON_NAMES(name, from, old, to, new, expression)                                 \
    char first[PATH_LENGTH], second[PATH_LENGTH];                                      \
    if (!both(from, old, first, to, new, second)) return (expression);                 \
    MAKE(int, name, shown(first), shown(second), NULL, 0, expression)

int mkdirat(int directory, const char *name, mode_t mode) {
    ON_NAME("mkdir", directory, name, (int)syscall(SYS_mkdirat, directory, name, mode));
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
int unlinkat(int directory, const char *name, int flags) {
    ON_NAME("unlink", directory, name, (int)syscall(SYS_unlinkat, directory, name, flags));
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int linkat(int from, const char *old, int to, const char *new, int flags) {
    ON_NAMES("link", from, old, to, new, (int)syscall(SYS_linkat, from, old, to, new, flags));
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    ON_NAMES(flags ? "rename-otherwise" : "rename", from, old, to, new, (int)syscall(SYS_renameat2, from, old, to, new, flags));
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }
