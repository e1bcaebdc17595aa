// The floor: asks for a type at once, on both families, and believes what comes: floor TYPE COUNT SECONDS. No first wait, no
// cache, no known answers. Prints "+;NAME" for a pointer and "=;NAME" when the service's SRV record is there too; ends after
// COUNT of those, or after SECONDS. Asks again each second.
#include "link.h"
#include "packet.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { TABLE = 1 << 16, FOUND = 1, PLACED = 2 };

static struct { char name[64]; unsigned state; } *services;
static struct name type;
static int resolved;

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void saw(const char *name, unsigned what) {
    unsigned at = 5381;
    for (const char *byte = name; *byte; byte++)
        at = at * 33 + (unsigned char)*byte;
    for (at %= TABLE; services[at].state && strcmp(services[at].name, name); at = (at + 1) % TABLE)
        ;
    unsigned before = services[at].state, after = before | what;
    if (before == after)
        return;
    snprintf(services[at].name, sizeof services[at].name, "%s", name);
    services[at].state = after;
    if (what == FOUND)
        printf("+;%s\n", name);
    if (after == (FOUND | PLACED)) {
        printf("=;%s\n", name);
        resolved++;
    }
}

static void heard(const uint8_t *data, size_t size) {
    struct name owner, target;
    size_t at = HEADER;
    if (size < HEADER || !(get16(data + 2) & 0x8000))
        return;
    for (unsigned n = get16(data + 4); n; n--, at += 4)
        if (!name_read(&owner, data, size, &at))
            return;
    for (unsigned n = get16(data + 6) + get16(data + 8) + get16(data + 10); n; n--) {
        if (!name_read(&owner, data, size, &at) || at + 10 > size)
            return;
        unsigned kind = get16(data + at), length = get16(data + at + 8);
        size_t body = at + 10;
        at = body + length;
        if (at > size)
            return;
        if (kind == TYPE_PTR && name_ends(&owner, 0, &type) && name_read(&target, data, size, &body) && target.count)
            saw(target.label[0], FOUND);
        if (kind == TYPE_SRV && name_ends(&owner, 1, &type))
            saw(owner.label[0], PLACED);
    }
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 64;
    char text[128];
    snprintf(text, sizeof text, "%s.local", argv[1]);
    name_parse(&type, text);
    int wanted = atoi(argv[2]), sockets[LINK_FAMILIES];
    long end = now_ms() + 1000 * atol(argv[3]), asked = 0;
    services = calloc(TABLE, sizeof *services);
    union address groups[LINK_FAMILIES];
    struct pollfd fds[LINK_FAMILIES];
    for (int family = 0; family < LINK_FAMILIES; family++)
        fds[family] = (struct pollfd){.fd = sockets[family] = link_open(family, "eth0", &groups[family]), .events = POLLIN};
    static struct packet question;
    packet_begin(&question, 1400);
    packet_name(&question, &type, false);
    packet_put16(&question, TYPE_PTR);
    packet_put16(&question, CLASS_IN);
    question.questions = 1;
    packet_finish(&question, 0, 0);
    static uint8_t data[MAX_PACKET];
    while (resolved < wanted && now_ms() < end) {
        for (int family = 0; family < LINK_FAMILIES && now_ms() - asked >= 1000; family++)
            if (sockets[family] >= 0)
                sendto(sockets[family], question.data, question.size, 0, &groups[family].any, link_size(family));
        if (now_ms() - asked >= 1000)
            asked = now_ms();
        poll(fds, LINK_FAMILIES, 100);
        ssize_t size;
        for (int family = 0; family < LINK_FAMILIES; family++)
            while (fds[family].revents && (size = recv(sockets[family], data, sizeof data, 0)) > 0)
                heard(data, (size_t)size);
        fflush(stdout);
    }
    return resolved < wanted;
}
