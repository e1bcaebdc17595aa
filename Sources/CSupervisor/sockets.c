#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

static void enlarge(int fd, int size) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) return;
    // Without CAP_NET_ADMIN as far as net.core.rmem_max allows, which may be less than it has (socket(7)).
    int before = option(fd, SO_RCVBUF);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    // The kernel doubles what it is given.
    int half = before / 2;
    if (option(fd, SO_RCVBUF) < before) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
}

// The header of a packet of DNS begins after that of UDP (RFC 1035 §4.1.1), at which the kernel's filter begins.
enum { FLAGS = 8 + 2, QUESTIONS = 8 + 4, ANSWERS = 8 + 6, IS_RESPONSE = 0x8000 };

static void ignore_own_known_answers(int fd) {
    enum { ACCEPT = 8, DROP = 9 };
#define OR_ACCEPT(at) (ACCEPT - (at) - 1)
    struct sock_filter code[] = {
        [0] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        [1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_LOOPBACK, 0, OR_ACCEPT(1)),
        [2] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, FLAGS),
        [3] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, IS_RESPONSE, OR_ACCEPT(3), 0),
        [4] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, QUESTIONS),
        [5] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, OR_ACCEPT(5)),
        [6] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ANSWERS),
        [7] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, DROP - 7 - 1),
        [ACCEPT] = BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
        [DROP] = BPF_STMT(BPF_RET | BPF_K, 0),
    };
#undef OR_ACCEPT
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static int prepare(pid_t pid, int size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *descriptors = opendir(path);
    if (descriptors == NULL) return -errno;
    int count = 0, error = 0;
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
        if (is_udp(fd)) {
            enlarge(fd, size);
            ignore_own_known_answers(fd);
            count++;
        }
        close(fd);
    }
    if (process >= 0) close(process);
    closedir(descriptors);
    return count > 0 || error == 0 ? count : -error;
}

#ifdef SYS_setresuid32
enum { SETRESGID = SYS_setresgid32, SETRESUID = SYS_setresuid32 };
#else
enum { SETRESGID = SYS_setresgid, SETRESUID = SYS_setresuid };
#endif

// pidfd_getfd(2) compares the real ids of both, and CAP_SYS_PTRACE, which would do instead, is not had in a container. This
// thread's only, which glibc's functions cannot do; the effective ids and with them all rights stay.
static void have_real_ids(uid_t user, gid_t group) {
    syscall(SETRESGID, group, -1, -1);
    syscall(SETRESUID, user, -1, -1);
}

int csupervisor_prepare_sockets(pid_t pid, uid_t user, gid_t group, int size) {
    uid_t own_user = getuid();
    gid_t own_group = getgid();
    bool is_other = geteuid() == 0 && own_user != user;
    if (is_other) have_real_ids(user, group);
    int count = prepare(pid, size);
    if (is_other) have_real_ids(own_user, own_group);
    return count;
}
