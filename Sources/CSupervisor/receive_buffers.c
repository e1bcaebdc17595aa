#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CSupervisor.h"

// Of a daemon with few sockets.
enum { MOST_DESCRIPTORS = 256 };

static int option(int fd, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

static bool is_udp(int fd) {
    int domain = option(fd, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && option(fd, SO_TYPE) == SOCK_DGRAM;
}

static bool enlarge(int fd, int size) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) return true;
    // Without CAP_NET_ADMIN as far as net.core.rmem_max allows, which may be less than it has (socket(7)).
    int before = option(fd, SO_RCVBUF);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0) return false;
    // The kernel doubles what it is given.
    int half = before / 2;
    if (option(fd, SO_RCVBUF) < before) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
    return true;
}

int csupervisor_enlarge_receive_buffers(pid_t pid, int size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *descriptors = opendir(path);
    if (descriptors == NULL) return -errno;
    int count = 0, error = 0;
    // Not PIDFD_NONBLOCK and the like: Linux 5.6 has both calls.
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) error = errno;
    const struct dirent *entry;
    for (int seen = 0; process >= 0 && seen < MOST_DESCRIPTORS && (entry = readdir(descriptors)) != NULL; seen++) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (*end != 0 || end == entry->d_name) continue;
        int fd = (int)syscall(SYS_pidfd_getfd, process, (int)number, 0);
        if (fd < 0) {
            error = errno;
            continue;
        }
        if (is_udp(fd) && enlarge(fd, size)) count++;
        close(fd);
    }
    if (process >= 0) close(process);
    closedir(descriptors);
    return count > 0 || error == 0 ? count : -error;
}
