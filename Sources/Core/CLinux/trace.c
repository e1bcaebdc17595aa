#define _GNU_SOURCE
#include "multicast.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

void cmulticast_trace(int socket, int family) {
    const int on = 1;
    if (family == AF_INET) {
        setsockopt(socket, IPPROTO_IP, IP_RECVTTL, &on, sizeof on);
        setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    } else {
        setsockopt(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
        setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    }
}

int cmulticast_receive_one(
    int socket, uint8_t *bytes, int size, void *source, uint32_t *length, int *hops, uint32_t *interface,
    uint8_t destination[16]) {
    union {
        struct cmsghdr align;
        char bytes[256];
    } control;
    struct iovec part = {bytes, (size_t)size};
    struct msghdr message = {.msg_name = source, .msg_namelen = *length, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    const ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0) return -1;
    *length = message.msg_namelen;
    *hops = -1;
    *interface = 0;
    memset(destination, 0, 16);
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        const void *data = CMSG_DATA(item);
        if ((item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_TTL)
            || (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_HOPLIMIT)) {
            memcpy(hops, data, sizeof *hops);
        } else if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            memcpy(destination, &((const struct in_pktinfo *)data)->ipi_addr, 4);
            *interface = (uint32_t)((const struct in_pktinfo *)data)->ipi_ifindex;
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_PKTINFO) {
            memcpy(destination, &((const struct in6_pktinfo *)data)->ipi6_addr, 16);
            *interface = ((const struct in6_pktinfo *)data)->ipi6_ifindex;
        }
    }
    return (int)count;
}
