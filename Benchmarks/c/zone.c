#include "zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Items in order: each host's pointer to the type, then PTR, SRV and TXT of each service, then each host's A and AAAA.
static int first_ptr(const struct zone *zone) { return zone->hosts; }

void zone_finish(struct zone *zone) {
    zone->hosts = (zone->services + zone->per_host - 1) / zone->per_host;
    name_parse(&zone->local, "local");
    name_parse(&zone->meta, "_services._dns-sd._udp.local");
    zone->items = zone->hosts + 3 * zone->services + zone->hosts * (zone->a_count + zone->aaaa_count);
}

static int first_address(const struct zone *zone) { return first_ptr(zone) + 3 * zone->services; }

enum kind zone_kind(const struct zone *zone, int item) {
    if (item < first_ptr(zone))
        return ITEM_META;
    if (item < first_address(zone))
        return ITEM_PTR + (item - first_ptr(zone)) / zone->services;
    return item - first_address(zone) < zone->hosts * zone->a_count ? ITEM_A : ITEM_AAAA;
}

static int index_of(const struct zone *zone, int item) {
    int address = item - first_address(zone);
    switch (zone_kind(zone, item)) {
    case ITEM_META: return item;
    case ITEM_A: return address;
    case ITEM_AAAA: return address - zone->hosts * zone->a_count;
    default: return (item - first_ptr(zone)) % zone->services;
    }
}

int zone_host(const struct zone *zone, int item) {
    int index = index_of(zone, item);
    switch (zone_kind(zone, item)) {
    case ITEM_META: return index;
    case ITEM_A: return index / zone->a_count;
    case ITEM_AAAA: return index / zone->aaaa_count;
    default: return index / zone->per_host;
    }
}

int zone_item(const struct zone *zone, enum kind kind, int index) {
    switch (kind) {
    case ITEM_META: return index;
    case ITEM_A: return first_address(zone) + index * zone->a_count;
    case ITEM_AAAA: return first_address(zone) + zone->hosts * zone->a_count + index * zone->aaaa_count;
    default: return first_ptr(zone) + (int)(kind - ITEM_PTR) * zone->services + index;
    }
}

uint32_t zone_ttl(enum kind kind) { return kind == ITEM_SRV || kind == ITEM_A || kind == ITEM_AAAA ? 120 : 4500; }

bool zone_is_shared(enum kind kind) { return kind == ITEM_META || kind == ITEM_PTR; }

static void service_label(const struct zone *zone, int index, char label[64]) {
    snprintf(label, 64, "%s%05d", zone->prefix, index);
}

static void host_label(const struct zone *zone, int index, char label[64]) {
    snprintf(label, 64, "%s%04d", zone->host_prefix, index);
}

// The number behind `prefix` in a label of ours, or -1.
static int number(const char *label, const char *prefix, int below) {
    size_t count = strlen(prefix);
    if (strncasecmp(label, prefix, count) || !label[count])
        return -1;
    char *end;
    long value = strtol(label + count, &end, 10);
    return *end || value < 0 || value >= below ? -1 : (int)value;
}

static int service_of(const struct zone *zone, const struct name *name) {
    return name_ends(name, 1, &zone->type) ? number(name->label[0], zone->prefix, zone->services) : -1;
}

static int host_of(const struct zone *zone, const struct name *name) {
    return name_ends(name, 1, &zone->local) ? number(name->label[0], zone->host_prefix, zone->hosts) : -1;
}

static bool wants(unsigned asked, unsigned type) { return asked == type || asked == TYPE_ANY; }

// The first service of a host, and of the one behind the last.
static int first_service(const struct zone *zone, int host) {
    return host < zone->hosts ? host * zone->per_host : zone->services;
}

static void each_address(const struct zone *zone, enum kind kind, int host, void (*each)(int, void *), void *context) {
    for (int n = 0; n < (kind == ITEM_A ? zone->a_count : zone->aaaa_count); n++)
        each(zone_item(zone, kind, host) + n, context);
}

void zone_each(const struct zone *zone, int host, void (*each)(int, void *), void *context) {
    each(zone_item(zone, ITEM_META, host), context);
    for (enum kind kind = ITEM_PTR; kind <= ITEM_TXT; kind++)
        for (int n = first_service(zone, host); n < first_service(zone, host + 1); n++)
            each(zone_item(zone, kind, n), context);
    each_address(zone, ITEM_A, host, each, context);
    each_address(zone, ITEM_AAAA, host, each, context);
}

void zone_answers(
    const struct zone *zone, int host, const struct name *name, unsigned type, void (*each)(int, void *), void *context) {
    int index;
    if (name_ends(name, 0, &zone->type)) {
        int from = host == EVERY_HOST ? 0 : first_service(zone, host);
        int to = host == EVERY_HOST ? zone->services : first_service(zone, host + 1);
        for (int n = from; wants(type, TYPE_PTR) && n < to; n++)
            each(zone_item(zone, ITEM_PTR, n), context);
    } else if (name_ends(name, 0, &zone->meta)) {
        for (int n = host == EVERY_HOST ? 0 : host; wants(type, TYPE_PTR) && n < (host == EVERY_HOST ? zone->hosts : host + 1); n++)
            each(zone_item(zone, ITEM_META, n), context);
    } else if ((index = service_of(zone, name)) >= 0) {
        if (host != EVERY_HOST && index / zone->per_host != host)
            return;
        if (wants(type, TYPE_SRV))
            each(zone_item(zone, ITEM_SRV, index), context);
        if (wants(type, TYPE_TXT))
            each(zone_item(zone, ITEM_TXT, index), context);
    } else if ((index = host_of(zone, name)) >= 0 && (host == EVERY_HOST || index == host)) {
        if (wants(type, TYPE_A))
            each_address(zone, ITEM_A, index, each, context);
        if (wants(type, TYPE_AAAA))
            each_address(zone, ITEM_AAAA, index, each, context);
    }
}

void zone_additionals(const struct zone *zone, int item, void (*each)(int, void *), void *context) {
    enum kind kind = zone_kind(zone, item);
    int index = index_of(zone, item), host = zone_host(zone, item);
    if (kind == ITEM_META || kind == ITEM_TXT)
        return;
    if (kind == ITEM_PTR) {
        each(zone_item(zone, ITEM_SRV, index), context);
        each(zone_item(zone, ITEM_TXT, index), context);
    }
    each_address(zone, ITEM_A, host, each, context);
    each_address(zone, ITEM_AAAA, host, each, context);
}

void zone_address(const struct zone *zone, enum kind kind, int index, int which, uint8_t bytes[16]) {
    unsigned host = (unsigned)index + 1;
    if (kind == ITEM_A && zone->fixed_a) {
        memcpy(bytes, zone->a[which], 4);
    } else if (kind == ITEM_AAAA && zone->fixed_aaaa) {
        memcpy(bytes, zone->aaaa[which], 16);
    } else if (kind == ITEM_A) {
        memcpy(bytes, (uint8_t[]){10, (uint8_t)(78 + which), (uint8_t)(host >> 8), (uint8_t)host}, 4);
    } else {
        memset(bytes, 0, 16);
        bytes[0] = 0xFD, bytes[1] = 0x78, bytes[7] = (uint8_t)which;
        bytes[14] = (uint8_t)(host >> 8), bytes[15] = (uint8_t)host;
    }
}

static int port_of(const struct zone *zone, int index) { return zone->port ? zone->port : 20000 + index % 10000; }

bool zone_write(const struct zone *zone, struct packet *packet, int item, uint32_t ttl, bool legacy) {
    static const unsigned types[] = {TYPE_PTR, TYPE_PTR, TYPE_SRV, TYPE_TXT, TYPE_A, TYPE_AAAA};
    enum kind kind = zone_kind(zone, item);
    int index = index_of(zone, item);
    size_t before = packet->size;
    int offsets_before = packet->offset_count;
    struct name owner, host, target;
    char label[64];
    service_label(zone, index, label);
    if (kind == ITEM_META)
        owner = zone->meta;
    else if (kind == ITEM_PTR)
        owner = zone->type;
    else if (kind == ITEM_SRV || kind == ITEM_TXT)
        name_prepend(&owner, label, &zone->type);
    host_label(zone, zone_host(zone, item), label);
    name_prepend(&host, label, &zone->local);

    // §10.2: the cache-flush bit is for unique records, and not for legacy queriers (§6.7).
    unsigned class = CLASS_IN | (zone_is_shared(kind) || legacy ? 0 : TOP_BIT);
    const struct name *of = kind == ITEM_A || kind == ITEM_AAAA ? &host : &owner;
    size_t length_at = packet_begin_record(packet, of, types[kind], class, ttl);
    uint8_t bytes[16];
    switch (kind) {
    case ITEM_META: packet_name(packet, &zone->type, true); break;
    case ITEM_PTR:
        service_label(zone, index, label);
        name_prepend(&target, label, &zone->type);
        packet_name(packet, &target, true);
        break;
    case ITEM_SRV:
        packet_put32(packet, 0); // priority and weight
        packet_put16(packet, (unsigned)port_of(zone, index));
        packet_name(packet, &host, !legacy); // RFC 6762 §18.14 allows to compress it
        break;
    case ITEM_TXT: packet_put(packet, zone->txt, zone->txt_size); break;
    case ITEM_A:
    case ITEM_AAAA:
        zone_address(zone, kind, zone_host(zone, item), index % (kind == ITEM_A ? zone->a_count : zone->aaaa_count), bytes);
        packet_put(packet, bytes, kind == ITEM_A ? 4 : 16);
        break;
    }
    if (packet->full) {
        packet->full = false;
        packet->size = before;
        packet->offset_count = offsets_before;
        return false;
    }
    packet_end_record(packet, length_at);
    return true;
}

int zone_read(const struct zone *zone, const uint8_t *data, size_t size, size_t *at, uint32_t *ttl) {
    struct name owner, target;
    if (!name_read(&owner, data, size, at) || *at + 10 > size) {
        *at = size + 1;
        return -1;
    }
    unsigned type = get16(data + *at), length = get16(data + *at + 8);
    *ttl = get32(data + *at + 4);
    size_t body = *at + 10;
    *at = body + length;
    if (*at > size)
        return -1;
    int index;
    if (type == TYPE_PTR && name_ends(&owner, 0, &zone->type)) {
        size_t here = body;
        if (!name_read(&target, data, size, &here) || (index = service_of(zone, &target)) < 0)
            return -1;
        return zone_item(zone, ITEM_PTR, index);
    }
    if (type == TYPE_PTR && name_ends(&owner, 0, &zone->meta)) {
        size_t here = body;
        return name_read(&target, data, size, &here) && name_ends(&target, 0, &zone->type) ? 0 : -1;
    }
    if (type == TYPE_SRV && length > 6 && (index = service_of(zone, &owner)) >= 0) {
        size_t here = body + 6;
        bool same = (int)get16(data + body + 4) == port_of(zone, index) && name_read(&target, data, size, &here) &&
            host_of(zone, &target) == index / zone->per_host;
        return same ? zone_item(zone, ITEM_SRV, index) : -1;
    }
    if (type == TYPE_TXT && (index = service_of(zone, &owner)) >= 0)
        return length == zone->txt_size && !memcmp(data + body, zone->txt, length) ? zone_item(zone, ITEM_TXT, index)
                                                                                  : -1;
    enum kind kind = type == TYPE_A ? ITEM_A : ITEM_AAAA;
    int count = type == TYPE_A ? zone->a_count : zone->aaaa_count;
    if ((type == TYPE_A && length == 4) || (type == TYPE_AAAA && length == 16)) {
        uint8_t ours[16];
        index = host_of(zone, &owner);
        for (int n = 0; index >= 0 && n < count; n++) {
            zone_address(zone, kind, index, n, ours);
            if (!memcmp(ours, data + body, length))
                return zone_item(zone, kind, index) + n;
        }
    }
    return -1;
}
