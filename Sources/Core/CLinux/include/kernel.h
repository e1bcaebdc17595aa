// What the kernel says, in structures that Swift does not import. Compiled, not inline: the headers behind it would take types away
// from Swift's Glibc module.

#ifndef DISCOVERD_CKERNEL_H
#define DISCOVERD_CKERNEL_H

#include <stdbool.h>

// A connection that was accepted: the name of the interface by which it came, for one from this machine itself that of the
// interface whose address it was for. An IPv4 listener needs IP_PKTINFO before. Returns 0, or -1 when unknown.
int ckernel_arrival(int connection, char name[_Nonnull 16]);

// Has a TCP socket, before it listens, take only what comes by one of `count` interfaces or over loopback: to who connects by another
// it is silent, as behind a firewall. Needs no privilege. Returns 0, or -1 with errno.
int ckernel_take_only(int listener, const unsigned *_Nullable interfaces, int count);

// Lifts that from a connection, which has it from its listener.
void ckernel_take_all(int connection);

// Has a TCP connection end where what was sent is not acknowledged for `patience` ms (TCP_USER_TIMEOUT of tcp(7)), but not where all that was sent is:
// then there may be more, for which the other side has no room, and the kernel would count its time as well. It ends if three questions in a row
// whether there is room are not answered. For who looks every few seconds.
void ckernel_follow_window(int connection, unsigned patience);

// A socket to read from when an interface comes, goes, or gets another name; with more, also when an address or a route does. -1 with errno.
int ckernel_watch_interfaces(bool more);

#endif
