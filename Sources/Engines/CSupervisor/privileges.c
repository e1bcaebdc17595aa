// Runs between fork and exec: plain system calls only. Not glibc's functions for ids, which would have every thread of the owner do
// the same (nptl(7)) and take locks for it.

#define _GNU_SOURCE
#include "privileges.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_setresuid32
enum { SETGROUPS = SYS_setgroups32, SETRESGID = SYS_setresgid32, SETRESUID = SYS_setresuid32 };
#else
enum { SETGROUPS = SYS_setgroups, SETRESGID = SYS_setresgid, SETRESUID = SYS_setresuid };
#endif

int privileges_give_up(const csupervisor_config *config) {
    // So that root without capabilities gets none by execve either (capabilities(7)). Without CAP_SETPCAP these change nothing, and
    // PR_SET_NO_NEW_PRIVS keeps them away.
    for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++) {
        prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    }
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    if (config->user != geteuid()) {
        if (syscall(SETGROUPS, 0, NULL) != 0) return -1;
        if (syscall(SETRESGID, config->group, config->group, config->group) != 0) return -1;
        if (syscall(SETRESUID, config->user, config->user, config->user) != 0) return -1;
    }
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

bool csupervisor_can_change_user(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct sets[2];
    memset(sets, 0, sizeof sets);
    if (geteuid() != 0 || syscall(SYS_capget, &header, sets) != 0) return false;
    const unsigned needed = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_KILL | 1U << CAP_SETGID | 1U << CAP_SETUID;
    return (sets[0].effective & needed) == needed;
}
