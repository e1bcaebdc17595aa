// Writes one mDNS message (RFC 1035 §4.1) with name compression, and reads names out of one.
#ifndef PACKET_H
#define PACKET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TYPE_A = 1, TYPE_PTR = 12, TYPE_TXT = 16, TYPE_AAAA = 28, TYPE_SRV = 33, TYPE_ANY = 255 };
enum { CLASS_IN = 1, CLASS_ANY = 255, TOP_BIT = 0x8000 };
enum { HEADER = 12, MAX_LABELS = 32, MAX_PACKET = 9000 };

// A name as labels, without the root; `text` holds them one after the other, each ended by a NUL.
struct name {
    int count;
    const char *label[MAX_LABELS];
    uint8_t length[MAX_LABELS];
    char text[300];
};

// Labels of dotted `text`, which must be short enough and have no escapes.
void name_parse(struct name *name, const char *text);
// `label` in front of `rest`.
void name_prepend(struct name *name, const char *label, const struct name *rest);
// Reads the name at *at and moves *at behind it. False if it is malformed.
bool name_read(struct name *name, const uint8_t *data, size_t size, size_t *at);
// Whether `name` from its label `from` on is `other`, whatever the case of ASCII letters.
bool name_ends(const struct name *name, int from, const struct name *other);

struct packet {
    uint8_t data[MAX_PACKET];
    size_t size, limit;
    uint16_t questions, answers, additionals;
    uint16_t offsets[512];  // where labels begin that a later name may point at
    int offset_count;
    bool full;              // something did not fit
};

void packet_begin(struct packet *packet, size_t limit);
void packet_put(struct packet *packet, const void *bytes, size_t count);
void packet_put16(struct packet *packet, unsigned value);
void packet_put32(struct packet *packet, uint32_t value);
void packet_name(struct packet *packet, const struct name *name, bool compress);
// The fixed part of a record; returns where its length belongs, for packet_end_record.
size_t packet_begin_record(struct packet *packet, const struct name *owner, unsigned type, unsigned class, uint32_t ttl);
void packet_end_record(struct packet *packet, size_t length_at);
// Writes the header: `flags` is 0x8400 for a response.
void packet_finish(struct packet *packet, uint16_t id, uint16_t flags);

static inline unsigned get16(const uint8_t *at) { return (unsigned)at[0] << 8 | at[1]; }
static inline uint32_t get32(const uint8_t *at) { return (uint32_t)get16(at) << 16 | get16(at + 2); }
#endif
