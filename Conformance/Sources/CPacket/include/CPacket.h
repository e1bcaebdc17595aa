// Frames of an Ethernet link, as they are (packet(7)): what a socket of UDP does not tell of a datagram.

#ifndef DISCOVERD_CPACKET_H
#define DISCOVERD_CPACKET_H

#include <stdint.h>

// A socket that gets all frames of an interface. Returns the descriptor, or -errno. `hardware` is the interface's own address.
int cpacket_open(const char *_Nonnull interface, uint8_t hardware[_Nonnull 6]);

// Waits for a frame that others sent on one of `count` sockets, at most 8; `at` is when the kernel got it, in ns since 1970, and `which` the
// socket's place. Returns its length, 0 after `timeout` ms, or -errno.
int cpacket_receive(
    const int *_Nonnull sockets, int count, uint8_t *_Nonnull bytes, int size, int timeout, int64_t *_Nonnull at, int *_Nonnull which);

// Sends a frame. Returns 0, or -errno.
int cpacket_send(int socket, const uint8_t *_Nonnull bytes, int count);

// Now, of the same clock as `at`.
int64_t cpacket_now(void);

#endif
