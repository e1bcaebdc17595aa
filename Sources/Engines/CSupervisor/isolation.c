// Runs between fork and exec: async-signal-safe functions and plain system calls only.

#define _GNU_SOURCE
#include "isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"bus", "dbus.conf", "avahi-daemon.conf", "passwd", "group"};

// avahi-daemon 0.8 has this path compiled in (AVAHI_DAEMON_RUNTIME_DIR).
#define AVAHI_DIRECTORY "/run/avahi-daemon"

static int write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t written = write(fd, text, strlen(text));
    int error = errno;
    close(fd);
    errno = error;
    return written == (ssize_t)strlen(text) ? 0 : -1;
}

// Makes the directories of a path that is shorter than PATH_MAX.
static int make_path(const char *path) {
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part) return errno = ENAMETOOLONG, -1;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0755) != 0 && errno != EEXIST) return -1;
    }
    return 0;
}

static int open_place(place *place, const csupervisor_config *config) {
    place->directory = open(config->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->directory < 0) return -1;
    if (config->shared_directory != NULL) {
        place->shared = open(config->shared_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    place->parent = openat(place->directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return place->parent < 0 ? -1 : 0;
}

// avahi-daemon without rights cannot do it.
static int give_avahi_directory(const csupervisor_config *config) {
    return config->user == geteuid() ? 0 : chown(AVAHI_DIRECTORY, config->user, config->group);
}

static int mount_all(const place *place, const csupervisor_config *config) {
    // What is mounted here stays here. Not possible, and not needed, where / is no mount point (in a chroot).
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 && errno != EINVAL) return -1;
    if (fchdir(place->directory) != 0) return -1;
    // avahi-daemon gives its directory to user `avahi` and insists that this worked.
    if (mount("passwd", "/etc/passwd", NULL, MS_BIND, NULL) != 0) return -1;
    if (mount("group", "/etc/group", NULL, MS_BIND, NULL) != 0) return -1;
    if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=1m") != 0) return -1;
    if (mkdir(AVAHI_DIRECTORY, 0755) != 0 || give_avahi_directory(config) != 0) return -1;
    // The directory itself may have been below /run: it is put there again, from where this process stands.
    if (access(config->directory, F_OK) != 0) {
        if (make_path(config->directory) != 0) return -1;
        if (mount(".", config->directory, NULL, MS_BIND, NULL) != 0) return -1;
    }
    return chdir("/");
}

csupervisor_event_kind place_prepare(place *place, const csupervisor_config *config) {
    if (config->isolation == CSUPERVISOR_AS_USER) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return CSUPERVISOR_USER_NAMESPACE_REFUSED;
        // user_namespaces(7): without CAP_SETGID a gid map may be written only after setgroups is given up.
        if (write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT) {
            return CSUPERVISOR_USER_NAMESPACE_REFUSED;
        }
        if (write_file("/proc/self/uid_map", config->uid_map) != 0) return CSUPERVISOR_USER_NAMESPACE_REFUSED;
        if (write_file("/proc/self/gid_map", config->gid_map) != 0) return CSUPERVISOR_USER_NAMESPACE_REFUSED;
    }
    place->is_isolated = config->isolation == CSUPERVISOR_AS_USER || unshare(CLONE_NEWNS) == 0;
    if (!place->is_isolated && errno != EPERM && errno != ENOSYS) return CSUPERVISOR_MOUNT_REFUSED;
    int reason = errno;
    // After unshare: a mount can only be copied within one namespace (mount(2), EINVAL).
    if (open_place(place, config) != 0) return CSUPERVISOR_FAILED;
    if (place->is_isolated) return mount_all(place, config) == 0 ? 0 : CSUPERVISOR_MOUNT_REFUSED;
    place->made_avahi_directory = mkdir(AVAHI_DIRECTORY, 0755) == 0;
    if (give_avahi_directory(config) != 0 && place->made_avahi_directory) {
        rmdir(AVAHI_DIRECTORY);
        return CSUPERVISOR_FAILED;
    }
    if (chdir("/") != 0) return CSUPERVISOR_FAILED;
    errno = reason;
    return 0;
}

void place_forget_pid(void) { unlink(AVAHI_DIRECTORY "/pid"); }

void place_remove(const place *place, const csupervisor_config *config) {
    if (!place->is_isolated) {
        unlink(AVAHI_DIRECTORY "/pid");
        unlink(AVAHI_DIRECTORY "/socket");
        if (place->made_avahi_directory) rmdir(AVAHI_DIRECTORY);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlinkat(place->directory, files[i], 0);
    const char *name = strrchr(config->directory, '/');
    if (name != NULL) unlinkat(place->parent, name + 1, AT_REMOVEDIR);
}

// Whether the file that is open is the one that the name stands for: else another has removed it.
static bool is_still(int file, int directory, const char *name) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static void remove_link(const place *place, const csupervisor_config *config) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(place->shared, config->shared_link, target, sizeof target);
    size_t own = strlen(config->directory);
    static const char bus[] = "/bus";
    if (length < 0 || (size_t)length != own + sizeof bus - 1) return;
    if (memcmp(target, config->directory, own) != 0 || memcmp(target + own, bus, sizeof bus - 1) != 0) return;
    unlinkat(place->shared, config->shared_link, 0);
}

void place_withdraw(const place *place, const csupervisor_config *config) {
    if (place->shared < 0 || config->shared_link == NULL || config->shared_lock == NULL) return;
    int lock = openat(place->shared, config->shared_lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) return;
    // The owner's end closes its pipe to this process and its lock one after the other.
    for (int tries = 0; tries < 20; tries++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            if (is_still(lock, place->shared, config->shared_lock)) {
                remove_link(place, config);
                unlinkat(place->shared, config->shared_lock, 0);
            }
            break;
        }
        poll(NULL, 0, 5);
    }
    close(lock);
}
