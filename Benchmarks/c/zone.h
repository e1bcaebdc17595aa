// The records that the responder answers for: N services, ten a host unless told. An item is one record.
#ifndef ZONE_H
#define ZONE_H
#include "packet.h"

enum { MAX_ADDRESSES = 16, MAX_TXT = 1300, EVERY_HOST = -1 };
enum kind { ITEM_META, ITEM_PTR, ITEM_SRV, ITEM_TXT, ITEM_A, ITEM_AAAA };

struct zone {
    int services, per_host, hosts, a_count, aaaa_count, items;
    const char *prefix, *host_prefix;
    struct name type, local, meta;
    uint8_t txt[MAX_TXT];
    size_t txt_size;
    int port;
    // When set, every host has these addresses; otherwise each has its own of 10.78.0.0/16 and fd78::/64.
    uint8_t a[MAX_ADDRESSES][4], aaaa[MAX_ADDRESSES][16];
    bool fixed_a, fixed_aaaa;
};

void zone_finish(struct zone *zone);
enum kind zone_kind(const struct zone *zone, int item);
int zone_host(const struct zone *zone, int item);
int zone_item(const struct zone *zone, enum kind kind, int index);  // the first of a host's addresses, or a service's
uint32_t zone_ttl(enum kind kind);                                   // RFC 6762 §10
bool zone_is_shared(enum kind kind);
// One of a host's addresses: 4 bytes of ITEM_A, 16 of ITEM_AAAA.
void zone_address(const struct zone *zone, enum kind kind, int host, int which, uint8_t bytes[16]);
// Calls `each` for every record of the host.
void zone_each(const struct zone *zone, int host, void (*each)(int item, void *), void *);
// Calls `each` for every record that answers the question, of one host or of EVERY_HOST.
void zone_answers(
    const struct zone *zone, int host, const struct name *name, unsigned type, void (*each)(int item, void *), void *);
// Calls `each` for what RFC 6763 §12 puts beside the record.
void zone_additionals(const struct zone *zone, int item, void (*each)(int item, void *), void *);
// Writes the record; false, and the packet as before, if it does not fit.
bool zone_write(const struct zone *zone, struct packet *packet, int item, uint32_t ttl, bool legacy);
// The record of ours that was read from a known-answer list, or -1; of the pointers to the type the first. *at moves behind it, or beyond `size`.
int zone_read(const struct zone *zone, const uint8_t *data, size_t size, size_t *at, uint32_t *ttl);
#endif
