// What a program needs of the system before it starts: without it Swift's runtime and libdispatch trap or hang somewhere later, where
// nothing can be said any more.

#ifndef DISCOVERD_CPROCESSSTART_H
#define DISCOVERD_CPROCESSSTART_H

#include <stddef.h>

// What a program needs beyond what it has when it begins.
typedef struct cprocessstart_need {
    // Descriptors that can be opened.
    int descriptors;
    // Threads beyond one for each processor.
    int threads;
    // Bytes of address space beyond the stacks of the threads.
    size_t space;
} cprocessstart_need;

// To be called first thing in main, by `program`. Where there is no /proc, or the limits of this process (RLIMIT_NOFILE, RLIMIT_AS)
// leave less than it needs, it writes why to standard error and ends the process with status 71, EX_OSERR. With a little more than
// that it may work, or not, and what fails later is the system's.
void cprocessstart(const char *_Nonnull program, cprocessstart_need need);

#endif
