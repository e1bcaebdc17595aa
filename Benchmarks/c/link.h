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
socklen_t link_size(int family);
unsigned link_port(int family, const union address *from);
bool link_same(int family, const union address *one, const union address *other);
#endif
