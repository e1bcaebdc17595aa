#include "packet.h"

#include <string.h>
#include <strings.h>

static void append(struct name *name, size_t *used, const void *bytes, size_t count) {
    memcpy(name->text + *used, bytes, count);
    name->text[*used + count] = 0;
    name->label[name->count] = name->text + *used;
    name->length[name->count++] = (uint8_t)count;
    *used += count + 1;
}

void name_parse(struct name *name, const char *text) {
    size_t used = 0;
    name->count = 0;
    while (*text && name->count < MAX_LABELS) {
        size_t count = strcspn(text, ".");
        if (count > 63 || used + count + 1 > sizeof name->text)
            return;
        append(name, &used, text, count);
        text += count + (text[count] == '.');
    }
}

void name_prepend(struct name *name, const char *label, const struct name *rest) {
    size_t used = 0;
    name->count = 0;
    append(name, &used, label, strlen(label));
    for (int n = 0; n < rest->count && name->count < MAX_LABELS; n++)
        append(name, &used, rest->label[n], rest->length[n]);
}

bool name_read(struct name *name, const uint8_t *data, size_t size, size_t *at) {
    size_t here = *at, used = 0, lowest = size;
    bool jumped = false;
    name->count = 0;
    while (here < size) {
        uint8_t count = data[here];
        if ((count & 0xC0) == 0xC0) {
            if (here + 1 >= size)
                return false;
            size_t to = get16(data + here) & 0x3FFF;
            if (!jumped)
                *at = here + 2;
            // Only backwards, so that it ends.
            if (to >= here || to >= lowest)
                return false;
            jumped = true;
            here = lowest = to;
        } else if (count == 0) {
            if (!jumped)
                *at = here + 1;
            return true;
        } else {
            if (count > 63 || here + 1 + count > size || used + count + 1 > sizeof name->text || name->count == MAX_LABELS)
                return false;
            append(name, &used, data + here + 1, count);
            here += 1u + count;
        }
    }
    return false;
}

bool name_ends(const struct name *name, int from, const struct name *other) {
    if (name->count - from != other->count)
        return false;
    for (int n = 0; n < other->count; n++)
        if (name->length[from + n] != other->length[n] ||
            strncasecmp(name->label[from + n], other->label[n], other->length[n]))
            return false;
    return true;
}

void packet_begin(struct packet *packet, size_t limit) {
    packet->size = HEADER;
    packet->limit = limit < MAX_PACKET ? limit : MAX_PACKET;
    packet->questions = packet->answers = packet->additionals = 0;
    packet->offset_count = 0;
    packet->full = false;
}

void packet_put(struct packet *packet, const void *bytes, size_t count) {
    if (packet->size + count > packet->limit) {
        packet->full = true;
        return;
    }
    memcpy(packet->data + packet->size, bytes, count);
    packet->size += count;
}

void packet_put16(struct packet *packet, unsigned value) {
    packet_put(packet, (uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

void packet_put32(struct packet *packet, uint32_t value) {
    packet_put16(packet, value >> 16);
    packet_put16(packet, value & 0xFFFF);
}

// Whether what was written at `offset` reads as the labels of `name` from `from` on.
static bool is_at(const struct packet *packet, size_t offset, const struct name *name, int from) {
    for (;;) {
        uint8_t count = packet->data[offset];
        if ((count & 0xC0) == 0xC0) {
            offset = get16(packet->data + offset) & 0x3FFF;
            continue;
        }
        if (from == name->count || count == 0)
            return from == name->count && count == 0;
        if (count != name->length[from] || memcmp(packet->data + offset + 1, name->label[from], count))
            return false;
        offset += 1u + count;
        from++;
    }
}

void packet_name(struct packet *packet, const struct name *name, bool compress) {
    int known = packet->offset_count;
    for (int from = 0; from < name->count && !packet->full; from++) {
        for (int n = 0; compress && n < known; n++)
            if (is_at(packet, packet->offsets[n], name, from)) {
                packet_put16(packet, 0xC000u | packet->offsets[n]);
                return;
            }
        if (packet->size < 0x4000 && packet->offset_count < (int)(sizeof packet->offsets / sizeof *packet->offsets))
            packet->offsets[packet->offset_count++] = (uint16_t)packet->size;
        packet_put(packet, &name->length[from], 1);
        packet_put(packet, name->label[from], name->length[from]);
    }
    packet_put(packet, "", 1);
}

size_t packet_begin_record(struct packet *packet, const struct name *owner, unsigned type, unsigned class, uint32_t ttl) {
    packet_name(packet, owner, true);
    packet_put16(packet, type);
    packet_put16(packet, class);
    packet_put32(packet, ttl);
    size_t length_at = packet->size;
    packet_put16(packet, 0);
    return length_at;
}

void packet_end_record(struct packet *packet, size_t length_at) {
    if (packet->full)
        return;
    size_t length = packet->size - length_at - 2;
    packet->data[length_at] = (uint8_t)(length >> 8);
    packet->data[length_at + 1] = (uint8_t)length;
}

void packet_finish(struct packet *packet, uint16_t id, uint16_t flags) {
    const uint16_t fields[] = {id, flags, packet->questions, packet->answers, 0, packet->additionals};
    for (int n = 0; n < 6; n++) {
        packet->data[2 * n] = (uint8_t)(fields[n] >> 8);
        packet->data[2 * n + 1] = (uint8_t)fields[n];
    }
}
