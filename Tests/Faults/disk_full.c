// A full disk under the tables of a Postgres server that was not told about it: while the file named by DISK_FULL_SIGN is there, a
// write that would make one of its tables' files larger fails with ENOSPC. What is written in place goes through, as on a real disk.
// The log (pg_wal) has a disk of its own: when that one is full the server ends itself, which is another test's matter.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_of_a_table(int file) {
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    return strstr(path, "/base/") != NULL;
}

static bool is_full(int file, off_t end) {
    const char *sign = getenv("DISK_FULL_SIGN");
    struct stat status;
    return sign && access(sign, F_OK) == 0 && fstat(file, &status) == 0 && end > status.st_size && is_of_a_table(file);
}

static off_t length(const struct iovec *parts, int count) {
    off_t sum = 0;
    for (int part = 0; part < count; part++) sum += (off_t)parts[part].iov_len;
    return sum;
}

static ssize_t refuse(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return is_full(file, offset + (off_t)count) ? refuse() : NEXT(pwrite)(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return is_full(file, offset + (off_t)count) ? refuse() : NEXT(pwrite64)(file, bytes, count, offset);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    return is_full(file, offset + length(parts, count)) ? refuse() : NEXT(pwritev)(file, parts, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return is_full(file, offset + length(parts, count)) ? refuse() : NEXT(pwritev64)(file, parts, count, offset);
}

int posix_fallocate(int file, off_t offset, off_t count) {
    return is_full(file, offset + count) ? ENOSPC : NEXT(posix_fallocate)(file, offset, count);
}

int posix_fallocate64(int file, off64_t offset, off64_t count) {
    return is_full(file, offset + count) ? ENOSPC : NEXT(posix_fallocate64)(file, offset, count);
}

int fallocate(int file, int mode, off_t offset, off_t count) {
    return is_full(file, offset + count) ? (int)refuse() : NEXT(fallocate)(file, mode, offset, count);
}

int fallocate64(int file, int mode, off64_t offset, off64_t count) {
    return is_full(file, offset + count) ? (int)refuse() : NEXT(fallocate64)(file, mode, offset, count);
}
