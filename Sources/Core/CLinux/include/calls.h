// What Linux has and Swift's Glibc module does not.

#ifndef DISCOVERD_CLINUX_SHIM_H
#define DISCOVERD_CLINUX_SHIM_H

#include <malloc.h>
#include <net/if.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// EFD_CLOEXEC and EFD_NONBLOCK are macros of themselves, which Swift does not import.
static inline int clinux_eventfd(unsigned count, bool is_semaphore) {
    return eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK | (is_semaphore ? EFD_SEMAPHORE : 0));
}

// accept4 is declared for _GNU_SOURCE only.
static inline int clinux_accept(int listener) {
    return (int)syscall(SYS_accept4, listener, (void *)0, (void *)0, SOCK_CLOEXEC);
}

// prctl is variadic. `name` is cut to 15 bytes (prctl(2)).
static inline void clinux_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// The MTU of an interface in bytes; 0 where the system does not say. ioctl is variadic (netdevice(7)).
static inline int clinux_mtu(const char *_Nonnull name) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    int handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) return 0;
    int known = ioctl(handle, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
    close(handle);
    return known;
}

// Variadic, and glibc has its own function from 2.36 only. The descriptor is close-on-exec (pidfd_open(2)).
static inline int clinux_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0U); }

// Declared for _GNU_SOURCE only. A file in memory, with close-on-exec (1 is MFD_CLOEXEC; memfd_create(2)); the name is for people.
static inline int clinux_memory_file(const char *_Nonnull name) { return (int)syscall(SYS_memfd_create, name, 1U); }

// Declared for _GNU_SOURCE only; there from glibc 2.34 on.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *_Nonnull actions, int from);
static inline int clinux_close_from(posix_spawn_file_actions_t *_Nonnull actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

// One heap for all threads. It gives back what is free at its end, and blocks of 128 KiB and more at once, however large the largest was
// (mallopt(3)).
static inline void clinux_small_heap(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

#endif
