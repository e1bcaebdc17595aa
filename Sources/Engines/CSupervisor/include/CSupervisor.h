// A process that keeps a private dbus-daemon and avahi-daemon running, and ends when its owner ends.
//
// In C, because what runs between fork and exec in a process of many threads may call async-signal-safe functions only
// (signal-safety(7)), which Swift cannot promise.

#ifndef DISCOVERD_CSUPERVISOR_H
#define DISCOVERD_CSUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// How /run and the user database of the daemons are kept apart from the machine's.
typedef enum csupervisor_isolation {
    // A mount namespace; without CAP_SYS_ADMIN none, and the machine's own /run/avahi-daemon is used.
    CSUPERVISOR_AS_ROOT,
    // A user namespace, which anyone may make where the system allows it, and a mount namespace in it.
    CSUPERVISOR_AS_USER,
} csupervisor_isolation;

// What is to be started. All of it is read before csupervisor_start returns.
typedef struct csupervisor_config {
    // Absolute, without symbolic links, mode 0700, ours; with `passwd` and `group` in it, in which avahi is this user.
    // Removed in the end with `bus`, `dbus.conf`, `avahi-daemon.conf`, `passwd` and `group`.
    const char *_Nonnull directory;
    // NULL-terminated; the first is the path of the program.
    char *_Nullable const *_Nonnull dbus_argv;
    char *_Nullable const *_Nonnull avahi_argv;
    char *_Nullable const *_Nonnull environment;
    csupervisor_isolation isolation;
    // As whom the daemons run: this process's, or, for root, another's; then all of `directory` is theirs.
    uid_t user;
    gid_t group;
    // Where others find the bus, and the lock that its owner holds: names in `shared_directory`, which is NULL where it is not
    // shared. They are removed in the end, when the owner has gone without doing it and nobody else has the lock.
    const char *_Nullable shared_directory;
    const char *_Nullable shared_link;
    const char *_Nullable shared_lock;
    // Lines for /proc/self/uid_map and gid_map: each id as itself, so that D-Bus sees the same ids inside and outside.
    const char *_Nonnull uid_map;
    const char *_Nonnull gid_map;
    // The daemons' output goes to the owner's stderr, else nowhere.
    bool passes_output;
} csupervisor_config;

typedef enum csupervisor_event_kind {
    // dbus-daemon listens. `value`: its pid.
    CSUPERVISOR_BUS_READY = 1,
    // A daemon has ended and is started again after a while. `value`: as from waitpid(2).
    CSUPERVISOR_BUS_ENDED,
    CSUPERVISOR_AVAHI_ENDED,
    // A program could not be run. `value`: errno.
    CSUPERVISOR_BUS_NOT_RUN,
    CSUPERVISOR_AVAHI_NOT_RUN,
    // The supervisor cannot work and ends. `value`: errno.
    CSUPERVISOR_USER_NAMESPACE_REFUSED,
    CSUPERVISOR_MOUNT_REFUSED,
    CSUPERVISOR_FAILED,
    // No mount namespace: the machine's own /run/avahi-daemon is used. `value`: errno.
    CSUPERVISOR_NOT_ISOLATED,
} csupervisor_event_kind;

// What is read from `status`, one after the other, each written at once; end of file when the supervisor has ended.
typedef struct csupervisor_event {
    int32_t kind;
    int32_t value;
} csupervisor_event;

// Whether root may start the daemons as another user, and signal them and remove their files then.
bool csupervisor_can_change_user(void);

// Starts the supervisor from any thread. The daemons have no capability, whoever runs them, and can get none.
//
// `status` is for reading, non-blocking. Closing `life`, in whatever way (also by SIGKILL), makes the supervisor end:
// SIGTERM to avahi-daemon, which says goodbye, SIGKILL 5 s later, then dbus-daemon, then the directory. If the
// supervisor is killed, the kernel kills both daemons and the directory is left to the owner. Both descriptors are
// close-on-exec.
//
// Returns the supervisor's pid, to be waited for with waitpid after the end of `status`; or -errno.
pid_t csupervisor_start(const csupervisor_config *_Nonnull config, int *_Nonnull status, int *_Nonnull life);

#endif
