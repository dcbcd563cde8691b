// Linux prctl, which takes a variable number of arguments and so is none of Swift's.
#ifndef CPROCESS_SHIM_H
#define CPROCESS_SHIM_H

#include <sys/prctl.h>

// 0, or -1 with errno: no core file of this process is written, and no other process of its user may look into its memory.
static inline int cprocess_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int cprocess_allows_dumps(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

#endif
