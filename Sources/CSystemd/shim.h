// libsystemd's part for daemons: readiness (sd_notify(3)) and inherited sockets (sd_listen_fds(3)).
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

// Declared here instead of including <systemd/sd-daemon.h>: that brings C library headers which the Glibc module leaves out, and
// its types would then belong to this module.
#define SD_LISTEN_FDS_START 3
extern int sd_listen_fds(int unset_environment);
extern int sd_notify(int unset_environment, const char *state);

#endif
