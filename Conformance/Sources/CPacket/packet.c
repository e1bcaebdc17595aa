#define _GNU_SOURCE
#include "CPacket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int fail(int made) {
    const int error = errno;
    if (made >= 0) close(made);
    return -error;
}

int cpacket_open(const char *interface, uint8_t hardware[6]) {
    struct ifreq request = {0};
    const int on = 1, room = 16 << 20;
    // Bound before it gets anything: of this interface alone.
    const int made = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (made < 0) return fail(made);
    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    if (ioctl(made, SIOCGIFINDEX, &request)) return fail(made);
    const int index = request.ifr_ifindex;
    if (ioctl(made, SIOCGIFHWADDR, &request)) return fail(made);
    memcpy(hardware, request.ifr_hwaddr.sa_data, 6);
    // Simulated hosts have addresses of their own.
    const struct packet_mreq all = {.mr_ifindex = index, .mr_type = PACKET_MR_PROMISC};
    const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index};
    if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room)) setsockopt(made, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (setsockopt(made, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on)
        || setsockopt(made, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all)
        || bind(made, (const struct sockaddr *)&address, sizeof address))
        return fail(made);
    return made;
}

int cpacket_receive(const int *sockets, int count, uint8_t *bytes, int size, int timeout, int64_t *at, int *which) {
    struct pollfd waiting[8];
    if (count > 8) count = 8;
    for (int place = 0; place < count; place++) waiting[place] = (struct pollfd){.fd = sockets[place], .events = POLLIN};
    const int ready = poll(waiting, (nfds_t)count, timeout);
    if (ready < 0) return errno == EINTR ? 0 : -errno;
    *which = 0;
    while (*which < count && !waiting[*which].revents) ++*which;
    if (*which == count) return 0;
    const int socket = sockets[*which];
    struct sockaddr_ll from = {0};
    _Alignas(struct cmsghdr) char control[128];
    struct iovec part = {bytes, (size_t)size};
    struct msghdr message = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
        .msg_controllen = sizeof control};
    const ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT);
    // A link that is down is no end.
    if (length < 0) return errno == EAGAIN || errno == EINTR || errno == ENETDOWN ? 0 : -errno;
    if (from.sll_pkttype == PACKET_OUTGOING) return 0;
    *at = cpacket_now();
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPNS) continue;
        struct timespec when;
        memcpy(&when, CMSG_DATA(part), sizeof when);
        *at = (int64_t)when.tv_sec * 1000000000 + when.tv_nsec;
    }
    return (int)length;
}

int cpacket_send(int socket, const uint8_t *bytes, int count) {
    return send(socket, bytes, (size_t)count, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int64_t cpacket_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
