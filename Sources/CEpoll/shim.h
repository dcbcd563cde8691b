// Linux epoll, accept4 and eventfd, which the Glibc module does not carry.
#ifndef CEPOLL_SHIM_H
#define CEPOLL_SHIM_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// glibc declares accept4 only under _GNU_SOURCE. Defining that here would give fd_set another member name than the
// Glibc module has, and Swift refuses two definitions of one type.
extern int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

#endif
