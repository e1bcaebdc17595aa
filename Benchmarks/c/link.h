// The mDNS sockets on one interface, IPv4 and IPv6 (RFC 6762 §3, §11).
#ifndef LINK_H
#define LINK_H
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LINK_V4, LINK_V6, LINK_FAMILIES };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// A socket bound to UDP 5353 and to the interface, a member of the group there; -1 if the family is not to be had.
int link_open(int family, const char *interface, union address *group);
// Receives a packet: who sent it, and to which address, at port 5353.
ssize_t link_receive(int family, int fd, void *data, size_t size, union address *from, union address *to);
// Sends a packet, from `source` unless that is NULL.
ssize_t link_send(int family, int fd, const void *data, size_t size, const union address *to, const union address *source);
// Whether the address is one of the interface.
bool link_owns(int family, const char *interface, const union address *address);
socklen_t link_size(int family);
unsigned link_port(int family, const union address *from);
bool link_same(int family, const union address *one, const union address *other);
#endif
