#define _GNU_SOURCE // struct in6_pktinfo
#include "link.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 5353, RECEIVE_BUFFER = 4 << 20 };

static bool set(int fd, int level, int option, int value) {
    return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

static int prepare_v4(int fd, unsigned index, union address *group, union address *own) {
    struct ip_mreqn membership = {.imr_ifindex = (int)index};
    inet_pton(AF_INET, "224.0.0.251", &membership.imr_multiaddr);
    group->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = membership.imr_multiaddr};
    own->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT)};
    return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) == 0 &&
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &membership, sizeof membership) == 0 &&
        set(fd, IPPROTO_IP, IP_MULTICAST_TTL, 255) && set(fd, IPPROTO_IP, IP_TTL, 255) &&
        set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0) && set(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

static int prepare_v6(int fd, unsigned index, union address *group, union address *own) {
    struct ipv6_mreq membership = {.ipv6mr_interface = index};
    inet_pton(AF_INET6, "ff02::fb", &membership.ipv6mr_multiaddr);
    group->v6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(PORT), .sin6_addr = membership.ipv6mr_multiaddr,
        .sin6_scope_id = index};
    own->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
    return set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &membership, sizeof membership) == 0 &&
        set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)index) && set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 255) &&
        set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255) && set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0) &&
        set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
}

int link_open(int family, const char *interface, union address *group) {
    unsigned index = if_nametoindex(interface);
    int fd = socket(family == LINK_V4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    union address own;
    set(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    set(fd, SOL_SOCKET, SO_SNDBUF, RECEIVE_BUFFER);
    bool ready = index && set(fd, SOL_SOCKET, SO_REUSEADDR, 1) && set(fd, SOL_SOCKET, SO_REUSEPORT, 1) &&
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface)) == 0 &&
        (family == LINK_V4 ? prepare_v4(fd, index, group, &own) : prepare_v6(fd, index, group, &own)) &&
        bind(fd, &own.any, link_size(family)) == 0;
    if (!ready) {
        close(fd);
        return -1;
    }
    return fd;
}

// What a packet says beside its bytes: where it came to, or is to come from.
union beside {
    struct cmsghdr header;
    char v4[CMSG_SPACE(sizeof(struct in_pktinfo))], v6[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

ssize_t link_receive(int family, int fd, void *data, size_t size, union address *from, union address *to) {
    struct iovec bytes = {.iov_base = data, .iov_len = size};
    union beside beside;
    struct msghdr message = {
        .msg_name = from, .msg_namelen = sizeof *from, .msg_iov = &bytes, .msg_iovlen = 1,
        .msg_control = &beside, .msg_controllen = sizeof beside};
    ssize_t count = recvmsg(fd, &message, 0);
    struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
    memset(to, 0, sizeof *to);
    if (family == LINK_V4)
        to->v4.sin_port = htons(PORT);
    else
        to->v6.sin6_port = htons(PORT);
    if (header && header->cmsg_type == IP_PKTINFO && family == LINK_V4)
        to->v4.sin_addr = ((struct in_pktinfo *)CMSG_DATA(header))->ipi_addr;
    if (header && header->cmsg_type == IPV6_PKTINFO && family == LINK_V6)
        to->v6.sin6_addr = ((struct in6_pktinfo *)CMSG_DATA(header))->ipi6_addr;
    return count;
}

ssize_t link_send(int family, int fd, const void *data, size_t size, const union address *to, const union address *source) {
    struct iovec bytes = {.iov_base = (void *)data, .iov_len = size};
    union beside beside = {0};
    struct msghdr message = {.msg_name = (void *)to, .msg_namelen = link_size(family), .msg_iov = &bytes, .msg_iovlen = 1};
    if (source) {
        bool is_v4 = family == LINK_V4;
        message.msg_control = &beside;
        message.msg_controllen = is_v4 ? sizeof beside.v4 : sizeof beside.v6;
        beside.header.cmsg_len = CMSG_LEN(is_v4 ? sizeof(struct in_pktinfo) : sizeof(struct in6_pktinfo));
        beside.header.cmsg_level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
        beside.header.cmsg_type = is_v4 ? IP_PKTINFO : IPV6_PKTINFO;
        if (is_v4)
            ((struct in_pktinfo *)CMSG_DATA(&beside.header))->ipi_spec_dst = source->v4.sin_addr;
        else
            ((struct in6_pktinfo *)CMSG_DATA(&beside.header))->ipi6_addr = source->v6.sin6_addr;
    }
    return sendmsg(fd, &message, 0);
}

bool link_owns(int family, const char *interface, const union address *address) {
    union address own = *address;
    int fd = socket(family == LINK_V4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (family == LINK_V4)
        own.v4.sin_port = 0;
    else
        own.v6.sin6_port = 0, own.v6.sin6_scope_id = if_nametoindex(interface);
    bool owns = bind(fd, &own.any, link_size(family)) == 0;
    close(fd);
    return owns;
}

socklen_t link_size(int family) { return family == LINK_V4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6); }

unsigned link_port(int family, const union address *from) {
    return ntohs(family == LINK_V4 ? from->v4.sin_port : from->v6.sin6_port);
}

bool link_same(int family, const union address *one, const union address *other) {
    if (link_port(family, one) != link_port(family, other))
        return false;
    return family == LINK_V4 ? one->v4.sin_addr.s_addr == other->v4.sin_addr.s_addr
                             : !memcmp(&one->v6.sin6_addr, &other->v6.sin6_addr, sizeof one->v6.sin6_addr);
}
