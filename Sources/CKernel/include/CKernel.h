// What the kernel says, in structures that Swift does not import. Compiled, not inline: the headers behind it would take types away
// from Swift's Glibc module.

#ifndef DISCOVERD_CKERNEL_H
#define DISCOVERD_CKERNEL_H

// A connection that was accepted: the name of the interface by which it came, for one from this machine itself that of the
// interface whose address it was for. An IPv4 listener needs IP_PKTINFO before. Returns 0, or -1 when unknown.
int ckernel_arrival(int connection, char name[_Nonnull 16]);

#endif
