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
        set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
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
        set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255) && set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
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
