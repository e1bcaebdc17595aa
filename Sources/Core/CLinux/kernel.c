#define _GNU_SOURCE
#include "kernel.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The kernel keeps the interface of a connection where IPV6_MULTICAST_IF and, for a socket of IPv4 with IP_PKTINFO, IP_PKTOPTIONS
// read it (tcp_v6_syn_recv_sock and tcp_v4_syn_recv_sock of Linux).
int ckernel_arrival(int connection, char name[16]) {
    int number = 0;
    socklen_t length = sizeof number;
    if (getsockopt(connection, IPPROTO_IPV6, IPV6_MULTICAST_IF, &number, &length) != 0) {
        char control[256];
        length = sizeof control;
        if (getsockopt(connection, IPPROTO_IP, IP_PKTOPTIONS, control, &length) != 0) return -1;
        struct msghdr message = {.msg_control = control, .msg_controllen = length};
        for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
            struct in_pktinfo info;
            if (part->cmsg_level != IPPROTO_IP || part->cmsg_type != IP_PKTINFO) continue;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            number = info.ipi_ifindex;
        }
    }
    if (number <= 0 || !if_indextoname((unsigned)number, name)) return -1;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } own;
    length = sizeof own;
    if (getsockname(connection, &own.any, &length) != 0) return -1;
    const void *address = &own.v6.sin6_addr;
    if (own.any.sa_family == AF_INET) address = &own.v4.sin_addr;
    else if (IN6_IS_ADDR_V4MAPPED(&own.v6.sin6_addr)) address = &own.v6.sin6_addr.s6_addr[12];
    int is_v4 = address != (const void *)&own.v6.sin6_addr;
    struct ifaddrs *all = 0;
    if (getifaddrs(&all) != 0) return -1;
    int is_loopback = 0;
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if ((one->ifa_flags & IFF_LOOPBACK) && strcmp(one->ifa_name, name) == 0) is_loopback = 1;
    for (struct ifaddrs *one = all; is_loopback && one; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != (is_v4 ? AF_INET : AF_INET6)) continue;
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)one->ifa_addr;
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)one->ifa_addr;
        if (memcmp(is_v4 ? (const void *)&v4->sin_addr : &v6->sin6_addr, address, is_v4 ? 4 : 16) != 0) continue;
        // The same link-local address may be on two links.
        if (!is_v4 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) && v6->sin6_scope_id != own.v6.sin6_scope_id) continue;
        strncpy(name, one->ifa_name, 15);
        name[15] = 0;
        // An IPv4 address may have a label, such as eth0:1.
        name[strcspn(name, ":")] = 0;
        break;
    }
    freeifaddrs(all);
    return 0;
}

// A classic BPF program (Documentation/networking/filter.rst of Linux). A listener's filter sees the segment that asks for a
// connection, and what it drops is not answered. Only loopback is of the type ARPHRD_LOOPBACK.
int ckernel_take_only(int listener, const unsigned *interfaces, int count) {
    if (count < 0 || count > (BPF_MAXINSNS - 5) / 2) {
        errno = EINVAL;
        return -1;
    }
    struct sock_filter *program = calloc((size_t)count * 2 + 5, sizeof *program);
    if (!program) return -1;
    unsigned short length = 0;
    const struct sock_filter take = BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(SKF_AD_OFF + SKF_AD_HATYPE));
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARPHRD_LOOPBACK, 0, 1);
    program[length++] = take;
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(SKF_AD_OFF + SKF_AD_IFINDEX));
    for (int i = 0; i < count; i++) {
        program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, interfaces[i], 0, 1);
        program[length++] = take;
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog filter = {.len = length, .filter = program};
    int result = setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    int reason = errno;
    free(program);
    errno = reason;
    return result;
}

void ckernel_take_all(int connection) {
    int unused = 0;
    setsockopt(connection, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}

static const unsigned addresses_and_routes =
    RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;

int ckernel_watch_interfaces(bool more) {
    int watch = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (watch < 0) return -1;
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | (more ? addresses_and_routes : 0)};
    // Who reads looks at what there is now: of too many changes it need not hear.
    int on = 1;
    setsockopt(watch, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof on);
    if (bind(watch, (const struct sockaddr *)&address, sizeof address) == 0) return watch;
    int reason = errno;
    close(watch);
    errno = reason;
    return -1;
}

void ckernel_follow_window(int connection, unsigned patience) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return;
    // Who takes nothing answers the kernel's questions whether there is room.
    unsigned limit = info.tcpi_unacked > 0 || info.tcpi_probes >= 3 ? patience : 0;
    setsockopt(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}
