// Linux epoll, accept4 and eventfd, which the Glibc module does not carry.
#ifndef CEPOLL_SHIM_H
#define CEPOLL_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// glibc declares accept4 only under _GNU_SOURCE, which a Swift importer may not have set in time.
extern int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

#endif
