// Sockets of multicast DNS, with what Swift's Glibc module does not import: socket filters, memberships by index, recvmmsg.

#ifndef DISCOVERD_CMULTICAST_H
#define DISCOVERD_CMULTICAST_H

#include <stdbool.h>
#include <stdint.h>

// Which datagrams a socket is to get. The kernel says which are copies of what this machine sent: no one else can send such.
enum cmulticast_share {
    CMULTICAST_OTHERS,  // of other hosts; questions only if their frame went to all hosts
    CMULTICAST_ALONE,   // questions of other hosts whose frame did not: who else heard them is not known
    CMULTICAST_OWN,     // what this machine says
    CMULTICAST_ALL,     // of the loopback interface
};

// A socket of one interface and family (AF_INET or AF_INET6), bound to the group of mDNS and port 5353, which it shares (SO_REUSEADDR).
// It gets nothing by unicast, nothing from another source port, and with `wants_ttl_255` nothing that a router forwarded.
// Returns the descriptor, or -errno: -EADDRINUSE where the port is not shared.
int cmulticast_open(int family, uint32_t interface, enum cmulticast_share share, bool wants_ttl_255);

// A socket of one interface and family on a port of its own, for one-shot questions (RFC 6762 §5.1). It gets what comes to that port
// over that interface from port 5353, with `hears_own` also from this machine; responses only, and with `wants_ttl_255` none that a router forwarded.
// Returns the descriptor, or -errno.
int cmulticast_open_one_shot(int family, uint32_t interface, bool wants_ttl_255, bool hears_own);

// The same for a responder: it gets its share from any port, and of responses, too, only those whose frame is of that share.
int cmulticast_open_responder(int family, uint32_t interface, enum cmulticast_share share);

// A socket of one interface that asks one host (an IPv4 address in host order) from port 5353, which it shares. It gets what comes from port 5353 of that
// host to the same port of this machine: responses only, and with `wants_ttl_255` none that a router forwarded. No other socket gets those then.
// Kernels before 5.7 let only privileged programs name the interface. Returns the descriptor, or -errno.
int cmulticast_open_to_host(uint32_t interface, uint32_t host, bool wants_ttl_255);

// A socket for what is sent to port 5353 of this machine alone, over any interface; it is traced. Of several such sockets of a machine, the one
// that was bound last gets it. Returns the descriptor, or -errno.
int cmulticast_open_direct(int family);

// Sends to the group. Returns 0, or -errno.
int cmulticast_send(int socket, int family, uint32_t interface, const uint8_t *_Nonnull bytes, int count);

// Reads as many datagrams as there are, at most `slots`, each into its own `stride` bytes; what is longer is cut, and its length is
// greater than `stride`. `sources` tells their senders apart: an IPv4 address, or the four words of an IPv6 address in one.
// Returns how many, 0 when there is none, or -errno.
int cmulticast_receive(
    int socket, uint8_t *_Nonnull buffer, int stride, int slots, uint32_t *_Nonnull lengths, uint32_t *_Nonnull sources);

// Has the kernel tell of each datagram over how many hops it may go on and where it was sent, for `cmulticast_receive_one`.
void cmulticast_trace(int socket, int family);

// Reads one datagram of a socket that is traced; what is longer than `size` is cut, and its length is greater. `source` is a
// struct sockaddr of `length` bytes; `hops` is -1 and `interface`, over which it came, 0 where the kernel does not say, and `destination` 4
// or 16 bytes, zero then. Returns its length, or -1 and errno.
int cmulticast_receive_one(
    int socket, uint8_t *_Nonnull bytes, int size, void *_Nonnull source, uint32_t *_Nonnull length, int *_Nonnull hops,
    uint32_t *_Nonnull interface, uint8_t destination[_Nonnull 16]);

// Whether what waits in this socket fills three quarters of its room, and how many datagrams it has dropped: for want of room, or because
// the filter refused them. False and 0 when the kernel does not say.
bool cmulticast_is_crowded(int socket, uint32_t *_Nonnull drops);

// A timer of the clock that goes on while the machine sleeps (timerfd_create(2)). Returns the descriptor, or -1.
int cmulticast_timer(void);

// Sets it to fire after so much time of that clock; 0 and 0: off.
void cmulticast_set_timer(int timer, int64_t seconds, int64_t nanoseconds);

// Whether it has fired since it was set or this was asked.
bool cmulticast_timer_has_fired(int timer);

#endif
