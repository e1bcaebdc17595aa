#define _GNU_SOURCE
#include "multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_arp.h>
#include <linux/if_packet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

// LOOPBACK: the index of the loopback device in each network namespace.
enum { PORT = 5353, TTL = 255, SLOTS = 32, LOOPBACK = 1, RECEIVE_BUFFER = 8 << 20 };

static const struct in6_addr group6 = {{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfb}}};
#define GROUP4 0xE00000FBu

static int attach(int socket, const struct sock_filter *program, size_t length) {
    const struct sock_fprog filter = {(unsigned short)length, (struct sock_filter *)program};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}
#define ATTACH(socket, program) attach(socket, program, sizeof(program) / sizeof((program)[0]))

// Offsets count from the UDP header; the network header's have a base of their own (linux/filter.h).
static uint32_t ttl_offset(int family) { return (uint32_t)SKF_NET_OFF + (family == AF_INET ? 8 : 7); }

static int attach_own_filter(int socket, int family, bool all, bool any_port, bool wants_ttl_255) {
    const struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PORT, 0, any_port ? 0 : 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        // A copy of what this machine sent is for the socket of its own services alone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_LOOPBACK, 0, all ? 0 : 3),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ttl_offset(family)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TTL, 0, wants_ttl_255 ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    return ATTACH(socket, program);
}

// A question to the group may come in a frame to this machine alone: nobody who could answer has heard it. Of Ethernet the address itself
// counts: the kernel calls any group address multicast, and a host has some of its own (RFC 4291 §2.7.1). A querier takes responses however they
// come; a responder hears any port, and wants to know it of responses, too.
static int attach_others_filter(int socket, int family, bool alone, bool responder, bool wants_ttl_255) {
    enum { ANY_PORT = 2, BY_FRAME = 6, OF_GROUP = 10, OF_ETHERNET = 12, GOOD = 16, BAD = 19 };
    const int to_all = alone ? BAD : GOOD, to_one = alone ? GOOD : BAD;
#define TO(target, from) (uint8_t)((target) - (from) - 1)
    const struct sock_filter program[] = {
        [0] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        [1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PORT, 0, responder ? TO(ANY_PORT, 1) : TO(BAD, 1)),
        [2] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        [3] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_LOOPBACK, TO(BAD, 3), 0),
        [4] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8 + 2),
        [5] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x80, responder ? TO(BY_FRAME, 5) : TO(to_all, 5), 0),
        [6] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        [7] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_BROADCAST, TO(to_all, 7), 0),
        [8] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_HATYPE)),
        [9] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARPHRD_ETHER, TO(OF_ETHERNET, 9), 0),
        [OF_GROUP] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        [11] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_MULTICAST, TO(to_all, 11), TO(to_one, 11)),
        [OF_ETHERNET] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_LL_OFF),
        [13] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, family == AF_INET ? 0x01005e00 : 0x33330000, 0, TO(to_one, 13)),
        [14] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (uint32_t)SKF_LL_OFF + 4),
        [15] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x00fb, TO(to_all, 15), TO(to_one, 15)),
        [GOOD] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ttl_offset(family)),
        [17] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TTL, 0, wants_ttl_255 ? 1 : 0),
        [18] = BPF_STMT(BPF_RET | BPF_K, 0xffff),
        [BAD] = BPF_STMT(BPF_RET | BPF_K, 0),
    };
#undef TO
    return ATTACH(socket, program);
}

static int attach_filter(int socket, int family, enum cmulticast_share share, bool responder, bool wants_ttl_255) {
    switch (share) {
    case CMULTICAST_OTHERS: return attach_others_filter(socket, family, false, responder, wants_ttl_255);
    case CMULTICAST_ALONE: return attach_others_filter(socket, family, true, responder, wants_ttl_255);
    case CMULTICAST_OWN: return attach_own_filter(socket, family, false, responder, wants_ttl_255);
    case CMULTICAST_ALL: return attach_own_filter(socket, family, true, responder, wants_ttl_255);
    }
    errno = EINVAL;
    return -1;
}

// What does not come over the link is refused; but this machine's own responder may be heard, whose answers come in over the loopback device.
static int attach_one_shot_filter(int socket, int family, uint32_t interface, bool wants_ttl_255, bool hears_own) {
    const uint32_t other = hears_own ? LOOPBACK : interface;
    const struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PORT, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, interface, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 5),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8 + 2),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x80, 0, 3),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ttl_offset(family)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TTL, 0, wants_ttl_255 ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    return ATTACH(socket, program);
}

static int set(int socket, int level, int option, int value) {
    return setsockopt(socket, level, option, &value, sizeof value);
}

// Sends over this interface, also to this machine.
static int aim4(int socket, uint32_t interface) {
    const struct ip_mreqn request = {.imr_ifindex = (int)interface};
    return set(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0) || set(socket, IPPROTO_IP, IP_MULTICAST_TTL, TTL)
        || set(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 1)
        || setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
}

static int aim6(int socket, uint32_t interface) {
    return set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) || set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, TTL)
        || set(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1)
        || set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)interface);
}

static int join4(int socket, uint32_t interface) {
    const struct ip_mreqn request = {.imr_multiaddr = {htonl(GROUP4)}, .imr_ifindex = (int)interface};
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(GROUP4)}};
    if (aim4(socket, interface) || bind(socket, (const struct sockaddr *)&address, sizeof address)) return -1;
    return setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
}

static struct sockaddr_in6 group6_on(uint32_t interface) {
    return (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(PORT), .sin6_addr = group6, .sin6_scope_id = interface};
}

static int join6(int socket, uint32_t interface) {
    struct ipv6_mreq request = {.ipv6mr_multiaddr = group6, .ipv6mr_interface = interface};
    struct sockaddr_in6 address = group6_on(interface);
    // Kernels before 4.20 do not know IPV6_MULTICAST_ALL; the bind ties the socket to its interface anyhow.
    set(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    if (aim6(socket, interface) || bind(socket, (struct sockaddr *)&address, sizeof address)) return -1;
    return setsockopt(socket, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
}

static int open_group(int family, uint32_t interface, enum cmulticast_share share, bool responder, bool wants_ttl_255) {
    const int made = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -errno;
    // With CAP_NET_ADMIN beyond rmem_max; else as much as that allows.
    if (set(made, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)) set(made, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    // RFC 6762 §11: what goes to one host has the same TTL.
    const int ttl = !responder ? 0
        : family == AF_INET    ? set(made, IPPROTO_IP, IP_TTL, TTL)
                               : set(made, IPPROTO_IPV6, IPV6_UNICAST_HOPS, TTL);
    // The filter stands before the first datagram can come.
    if (ttl || set(made, SOL_SOCKET, SO_REUSEADDR, 1) || attach_filter(made, family, share, responder, wants_ttl_255)
        || (family == AF_INET ? join4(made, interface) : join6(made, interface))) {
        const int error = errno;
        close(made);
        return -error;
    }
    return made;
}

int cmulticast_open(int family, uint32_t interface, enum cmulticast_share share, bool wants_ttl_255) {
    return open_group(family, interface, share, false, wants_ttl_255);
}

int cmulticast_open_responder(int family, uint32_t interface, enum cmulticast_share share) {
    return open_group(family, interface, share, true, false);
}

int cmulticast_open_one_shot(int family, uint32_t interface, bool wants_ttl_255, bool hears_own) {
    const struct sockaddr_in6 any = {.sin6_family = (sa_family_t)family};
    const socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof any;
    const int made = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -errno;
    if (attach_one_shot_filter(made, family, interface, wants_ttl_255, hears_own)
        || (family == AF_INET ? aim4(made, interface) : aim6(made, interface))
        || bind(made, (const struct sockaddr *)&any, length)) {
        const int error = errno;
        close(made);
        return -error;
    }
    return made;
}

int cmulticast_open_to_host(uint32_t interface, uint32_t host, bool wants_ttl_255) {
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(host)}};
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -errno;
    // Bound and not yet connected, for some microseconds, it gets what comes to the port by unicast from anyone, in the place of others.
    if (attach_one_shot_filter(made, AF_INET, interface, wants_ttl_255, false) || set(made, IPPROTO_IP, IP_MULTICAST_ALL, 0)
        || set(made, IPPROTO_IP, IP_TTL, TTL) || set(made, SOL_SOCKET, SO_BINDTOIFINDEX, (int)interface)
        || set(made, SOL_SOCKET, SO_REUSEADDR, 1) || bind(made, (const struct sockaddr *)&any, sizeof any)
        || connect(made, (const struct sockaddr *)&to, sizeof to)) {
        const int error = errno;
        close(made);
        return -error;
    }
    return made;
}

int cmulticast_open_direct(int family) {
    const struct sockaddr_in6 any = {.sin6_family = (sa_family_t)family, .sin6_port = htons(PORT)};
    const socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof any;
    const int made = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -errno;
    cmulticast_trace(made, family);
    // Nothing that goes to a group: others of this machine join those.
    if (family == AF_INET) set(made, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    else set(made, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    if ((family == AF_INET6 && set(made, IPPROTO_IPV6, IPV6_V6ONLY, 1)) || set(made, SOL_SOCKET, SO_REUSEADDR, 1)
        || bind(made, (const struct sockaddr *)&any, length)) {
        const int error = errno;
        close(made);
        return -error;
    }
    return made;
}

int cmulticast_send(int socket, int family, uint32_t interface, const uint8_t *bytes, int count) {
    const struct sockaddr_in group4 = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(GROUP4)}};
    const struct sockaddr_in6 group6 = group6_on(interface);
    const struct sockaddr *to = family == AF_INET ? (const void *)&group4 : (const void *)&group6;
    const socklen_t length = family == AF_INET ? sizeof group4 : sizeof group6;
    return sendto(socket, bytes, (size_t)count, MSG_NOSIGNAL, to, length) < 0 ? -errno : 0;
}

static uint32_t source_number(const struct sockaddr_storage *address) {
    uint32_t words[4] = {0};
    if (address->ss_family == AF_INET) memcpy(words, &((const struct sockaddr_in *)address)->sin_addr, 4);
    if (address->ss_family == AF_INET6) memcpy(words, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return words[0] ^ words[1] ^ words[2] ^ words[3];
}

int cmulticast_receive(int socket, uint8_t *buffer, int stride, int slots, uint32_t *lengths, uint32_t *sources) {
    struct mmsghdr messages[SLOTS];
    struct iovec parts[SLOTS];
    struct sockaddr_storage addresses[SLOTS];
    if (slots > SLOTS) slots = SLOTS;
    memset(messages, 0, sizeof messages);
    for (int slot = 0; slot < slots; slot++) {
        parts[slot] = (struct iovec){buffer + (size_t)slot * (size_t)stride, (size_t)stride};
        messages[slot].msg_hdr.msg_iov = &parts[slot];
        messages[slot].msg_hdr.msg_iovlen = 1;
        addresses[slot].ss_family = AF_UNSPEC;
        messages[slot].msg_hdr.msg_name = &addresses[slot];
        messages[slot].msg_hdr.msg_namelen = sizeof addresses[slot];
    }
    const int count = recvmmsg(socket, messages, (unsigned)slots, MSG_DONTWAIT | MSG_TRUNC, NULL);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    for (int slot = 0; slot < count; slot++) {
        lengths[slot] = messages[slot].msg_len;
        sources[slot] = source_number(&addresses[slot]);
    }
    return count;
}

bool cmulticast_is_crowded(int socket, uint32_t *drops) {
    uint32_t figures[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof figures;
    *drops = 0;
    if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, figures, &length)) return false;
    if (length <= SK_MEMINFO_DROPS * sizeof figures[0]) return false;
    *drops = figures[SK_MEMINFO_DROPS];
    return figures[SK_MEMINFO_RMEM_ALLOC] > figures[SK_MEMINFO_RCVBUF] / 4 * 3;
}
