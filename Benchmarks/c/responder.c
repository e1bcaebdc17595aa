// Answers multicast DNS for N services of one type, ten a host unless told, as RFC 6762 asks; every host answers for itself.
//
// Known answers are left out (§7.1, over several packets too: §7.2), shared records are delayed by 20 to 120 ms and
// unique ones are not (§6), no record is multicast twice in a second (§6), QU questions are answered by unicast (§5.4),
// and so are legacy queriers (§6.7). It does not probe: its names are its alone. Ends with goodbyes (§10.1).
//
// A question by unicast is as a QU question (§5.5), but what is due by unicast is said at once, because nobody else is asked.
// What was not multicast within a quarter of its TTL goes to the group, after the usual delay (§5.4). Whether the asker is on
// the link (§11) is not looked at: nobody else is in the lab.
//
// With --own-addresses each host sends from its own: over IPv4 that of its first A record, 10.78.0.1 and on, over IPv6
// fe80::78:0:1 and on. A family is left out where one of them is not on the interface. A question to one of them is for that
// host alone; one to another address of this machine is for none.
#include "link.h"
#include "zone.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MDNS_PORT = 5353, POINTERS = 10, IP4_PAYLOAD = 1472, IP6_PAYLOAD = 1452, QUESTIONS = 512 };

// What one host is about to say.
struct reply {
    int host;
    int64_t due;
    bool pending, unicast, legacy, mixed; // mixed: more than one querier asked, so nobody's known answers count
    uint16_t id;
    union address from;
    int count, room, *items;
    const uint8_t *questions; // a legacy querier's, said again (§6.7)
    size_t questions_size;
    uint16_t questions_count;
    unsigned packet;          // a legacy querier's, by packet_number; 0 for others
    struct reply *next; // of replies by unicast
};

static struct zone zone = {.services = 10, .per_host = 10, .prefix = "svc-", .host_prefix = "bench-", .a_count = 1, .aaaa_count = 1};
static int sockets[LINK_FAMILIES];
static union address groups[LINK_FAMILIES];
static bool owns_addresses;
static union address *sources[LINK_FAMILIES];     // one a host, if they have their own
static int64_t *sent_at[LINK_FAMILIES];           // when each item was multicast last, ms
static struct reply *replies[LINK_FAMILIES];      // one a host
static struct reply *unicasts[LINK_FAMILIES];
static int *place[LINK_FAMILIES];                 // 1 + where in its host's reply an item waits, or 0
static unsigned *known;                           // the number of the last packet that had the item as a known answer
static unsigned packet_number;
static struct { unsigned long queries, questions, responses, records, suppressed, bytes; } total;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t between(int low, int high) { return low + random() % (high - low + 1); }

static void transmit(int family, struct packet *packet, const struct reply *reply) {
    const union address *to = reply->unicast ? &reply->from : &groups[family];
    const union address *source = owns_addresses ? &sources[family][reply->host] : NULL;
    packet_finish(packet, reply->legacy ? reply->id : 0, 0x8400);
    total.responses++;
    total.records += packet->answers + packet->additionals;
    total.bytes += packet->size;
    while (link_send(family, sockets[family], packet->data, packet->size, to, source) < 0)
        if (errno != EAGAIN || poll(&(struct pollfd){.fd = sockets[family], .events = POLLOUT}, 1, 100) < 1)
            return;
}

struct writing {
    int family;
    struct packet packet;
    struct reply *reply;
    int64_t now;
    int64_t said[1024]; // items in this packet
    int said_count;
};

static void add_additional(int item, void *context) {
    struct writing *writing = context;
    for (int n = 0; n < writing->said_count; n++)
        if (writing->said[n] == item)
            return;
    if (!writing->reply->unicast && writing->now - sent_at[writing->family][item] < 1000)
        return;
    if (writing->said_count == 1024 ||
        !zone_write(&zone, &writing->packet, item, zone_ttl(zone_kind(&zone, item)), writing->reply->legacy))
        return;
    writing->packet.additionals++;
    writing->said[writing->said_count++] = item;
}

// An item was multicast; each host has the pointer to the type, so that all have heard it.
static void said(int family, int item, int64_t now) {
    sent_at[family][item] = now;
    for (int host = 0; zone_kind(&zone, item) == ITEM_META && host < zone.hosts; host++)
        sent_at[family][zone_item(&zone, ITEM_META, host)] = now;
}

// One packet, or more, with what is due now. What was multicast less than a second ago stays for later.
static void answer(int family, struct reply *reply, int64_t now) {
    static struct writing writing;
    int left = 0, at = 0;
    int64_t later = 0;
    for (int n = 0; n < reply->count; n++) {
        int64_t allowed = sent_at[family][reply->items[n]] + 1000;
        if (!reply->unicast && allowed > now) {
            int item = reply->items[n], last = reply->items[reply->count - 1];
            if (zone_kind(&zone, item) == ITEM_META) { // §7.4: another host has just said it
                reply->items[n] = last;
                place[family][last] = n + 1;
                place[family][item] = 0;
                reply->count--, n--;
                continue;
            }
            later = later && later < allowed ? later : allowed;
            reply->items[n] = reply->items[left];
            reply->items[left++] = item;
            place[family][item] = left;
        }
    }
    writing.family = family, writing.reply = reply, writing.now = now;
    for (at = left; at < reply->count;) {
        packet_begin(&writing.packet, family == LINK_V4 ? IP4_PAYLOAD : IP6_PAYLOAD);
        // At the place where they were, so that their compressed names hold.
        if (reply->questions)
            packet_put(&writing.packet, reply->questions, reply->questions_size);
        writing.packet.questions = reply->questions_count;
        int first = at;
        // With no more pointers in a packet than leave room for what belongs to them.
        for (writing.said_count = 0; at < reply->count && at - first < POINTERS; at++) {
            int item = reply->items[at];
            uint32_t ttl = zone_ttl(zone_kind(&zone, item));
            if (!zone_write(&zone, &writing.packet, item, reply->legacy ? 10 : ttl, reply->legacy))
                break;
            writing.packet.answers++;
            writing.said[writing.said_count++] = item;
        }
        if (at == first)
            break; // one record that is larger than a packet
        for (int n = first; n < at && !reply->legacy; n++)
            zone_additionals(&zone, reply->items[n], add_additional, &writing);
        for (int n = 0; n < writing.said_count && !reply->unicast; n++)
            said(family, (int)writing.said[n], now);
        transmit(family, &writing.packet, reply);
    }
    for (int n = left; n < reply->count && !reply->unicast; n++)
        place[family][reply->items[n]] = 0;
    reply->count = left;
    reply->pending = left > 0;
    reply->due = later;
}

struct asking {
    int family, host; // that was asked, or EVERY_HOST
    union address *from;
    uint16_t id;
    int64_t now;
    bool unicast, direct, legacy, probe, truncated;
    const uint8_t *questions;
    size_t questions_size;
    uint16_t questions_count;
};

static void add_item(int family, struct reply *reply, int item) {
    for (int n = 0; n < reply->count && reply->unicast; n++)
        if (reply->items[n] == item)
            return;
    if (!reply->unicast && place[family][item])
        return;
    if (reply->count == reply->room) {
        int room = reply->room ? 2 * reply->room : 64;
        int *items = realloc(reply->items, (size_t)room * sizeof *items);
        if (!items)
            return;
        reply->items = items, reply->room = room;
    }
    reply->items[reply->count++] = item;
    if (!reply->unicast)
        place[family][item] = reply->count;
}

static struct reply *reply_by_unicast(const struct asking *asking, int host) {
    struct reply *reply = unicasts[asking->family];
    for (; reply; reply = reply->next)
        if (link_same(asking->family, &reply->from, asking->from) && reply->host == host &&
            reply->packet == (asking->legacy ? packet_number : 0))
            return reply;
    reply = calloc(1, sizeof *reply + asking->questions_size);
    if (!reply)
        return NULL;
    if (asking->legacy) {
        reply->questions = memcpy(reply + 1, asking->questions, asking->questions_size);
        reply->questions_size = asking->questions_size, reply->questions_count = asking->questions_count;
        reply->packet = packet_number;
    }
    reply->unicast = true, reply->legacy = asking->legacy, reply->id = asking->id, reply->from = *asking->from;
    reply->host = host;
    reply->next = unicasts[asking->family];
    unicasts[asking->family] = reply;
    return reply;
}

static void asked(int item, void *context) {
    const struct asking *asking = context;
    if (known[item] == packet_number) {
        total.suppressed++;
        return;
    }
    int host = asking->host == EVERY_HOST ? zone_host(&zone, item) : asking->host;
    bool shared = zone_is_shared(zone_kind(&zone, item));
    int64_t *last = &sent_at[asking->family][item];
    // §5.4: by multicast after all if that was not done for a quarter of the TTL.
    bool unicast = asking->legacy ||
        (asking->unicast && asking->now - *last < (int64_t)zone_ttl(zone_kind(&zone, item)) * 250);
    int64_t due = asking->now;
    if (asking->truncated)
        due += between(400, 500);
    // avahi-daemon, python-zeroconf and mdnsd answer a port after 0.3 to 11 ms.
    else if (shared && !asking->legacy && !(asking->direct && unicast))
        due += between(20, 120);
    struct reply *reply = unicast ? reply_by_unicast(asking, host) : &replies[asking->family][host];
    if (!reply)
        return;
    if (!unicast && asking->probe && asking->now - *last >= 250)
        *last = asking->now - 1000; // §6: a probe is answered sooner
    if (!unicast && reply->pending && !link_same(asking->family, &reply->from, asking->from))
        reply->mixed = true;
    if (!reply->pending) {
        reply->pending = true, reply->mixed = false, reply->from = *asking->from;
        reply->due = due;
    } else if (due < reply->due) {
        reply->due = due;
    }
    add_item(asking->family, reply, item);
}

// §7.2: the rest of a list of known answers. What waits for this querier only is not said.
static void take_back(const struct asking *asking, int item) {
    int family = asking->family, host = asking->host == EVERY_HOST ? zone_host(&zone, item) : asking->host;
    for (struct reply *own = unicasts[family]; own; own = own->next)
        for (int n = 0; own->host == host && !own->legacy && n < own->count; n++)
            if (own->items[n] == item && link_same(family, &own->from, asking->from)) {
                own->items[n] = own->items[--own->count];
                total.suppressed++;
            }
    struct reply *reply = &replies[family][host];
    if (!reply->pending || reply->mixed || !link_same(family, &reply->from, asking->from))
        return;
    int at = place[family][item] - 1;
    if (at < 0 || at >= reply->count || reply->items[at] != item)
        return;
    int last = reply->items[--reply->count];
    reply->items[at] = last;
    place[family][last] = at + 1;
    place[family][item] = 0;
    total.suppressed++;
    reply->pending = reply->count > 0;
}

// The host that has the address, or EVERY_HOST.
static int host_at(int family, const union address *address) {
    for (int host = 0; owns_addresses && host < zone.hosts; host++)
        if (link_same(family, &sources[family][host], address))
            return host;
    return EVERY_HOST;
}

static void received(int family, const uint8_t *data, size_t size, union address *from, const union address *to) {
    if (size < HEADER || get16(data + 2) & 0xF800) // a response, or another opcode (§18.3)
        return;
    bool direct = !link_same(family, to, &groups[family]);
    int host = direct ? host_at(family, to) : EVERY_HOST;
    if (direct && owns_addresses && host == EVERY_HOST)
        return;
    unsigned questions = get16(data + 4), answers = get16(data + 6);
    struct asking asking = {
        .family = family, .host = host, .direct = direct, .from = from, .id = (uint16_t)get16(data), .now = now_ms(),
        .legacy = link_port(family, from) != MDNS_PORT, .probe = get16(data + 8) > 0,
        .truncated = get16(data + 2) & 0x0200};
    struct name name;
    size_t at = HEADER;
    total.queries++;
    packet_number++;
    for (unsigned n = 0; n < questions; n++) {
        if (!name_read(&name, data, size, &at) || at + 4 > size)
            return;
        at += 4;
    }
    if (asking.legacy && at - HEADER > QUESTIONS)
        return;
    asking.questions = data + HEADER, asking.questions_size = at - HEADER, asking.questions_count = (uint16_t)questions;
    for (unsigned n = 0; n < answers && at < size; n++) {
        uint32_t ttl;
        int item = zone_read(&zone, data, size, &at, &ttl);
        if (at > size)
            return;
        // §7.1: only if at least half of its life is left.
        if (item < 0 || ttl < zone_ttl(zone_kind(&zone, item)) / 2)
            continue;
        // Each host has the pointer to the type.
        for (int last = zone_kind(&zone, item) == ITEM_META ? zone.hosts - 1 : item; item <= last; item++) {
            known[item] = packet_number;
            if (!questions)
                take_back(&asking, item);
        }
    }
    at = HEADER;
    for (unsigned n = 0; n < questions; n++) {
        name_read(&name, data, size, &at);
        unsigned type = get16(data + at), class = get16(data + at + 2);
        at += 4;
        total.questions++;
        asking.unicast = direct || class & TOP_BIT;
        if ((class & ~(unsigned)TOP_BIT) == CLASS_IN || (class & ~(unsigned)TOP_BIT) == CLASS_ANY)
            zone_answers(&zone, host, &name, type, asked, &asking);
    }
}

// Says what is due; returns the time of what is next, or -1.
static int64_t speak(int family) {
    int64_t now = now_ms(), next = -1;
    for (int host = 0; host < zone.hosts; host++) {
        struct reply *reply = &replies[family][host];
        if (reply->pending && reply->due <= now)
            answer(family, reply, now);
        if (reply->pending && (next < 0 || reply->due < next))
            next = reply->due;
    }
    for (struct reply **link = &unicasts[family]; *link;) {
        struct reply *reply = *link;
        if (reply->due <= now) {
            answer(family, reply, now);
            *link = reply->next;
            free(reply->items);
            free(reply);
        } else {
            next = next < 0 || reply->due < next ? reply->due : next;
            link = &reply->next;
        }
    }
    return next;
}

struct saying {
    int family;
    bool goodbye;
    struct reply to_all;
    struct packet packet;
};

static void say_what_is_written(struct saying *saying) {
    transmit(saying->family, &saying->packet, &saying->to_all);
    packet_begin(&saying->packet, saying->family == LINK_V4 ? IP4_PAYLOAD : IP6_PAYLOAD);
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); // so that no socket's buffer overflows
}

static void say(int item, void *context) {
    struct saying *saying = context;
    uint32_t ttl = saying->goodbye ? 0 : zone_ttl(zone_kind(&zone, item));
    if (!zone_write(&zone, &saying->packet, item, ttl, false)) {
        say_what_is_written(saying);
        zone_write(&zone, &saying->packet, item, ttl, false);
    }
    saying->packet.answers++;
    sent_at[saying->family][item] = now_ms();
}

// Every record of every host, with its TTL or with none.
static void say_all(int family, bool goodbye) {
    static struct saying saying;
    saying.family = family, saying.goodbye = goodbye;
    packet_begin(&saying.packet, family == LINK_V4 ? IP4_PAYLOAD : IP6_PAYLOAD);
    for (int host = 0; host < zone.hosts; host++) {
        saying.to_all.host = host;
        zone_each(&zone, host, say, &saying);
        say_what_is_written(&saying);
    }
}

static void add_txt(const char *string) {
    size_t count = strlen(string);
    if (count > 255 || zone.txt_size + count + 1 > MAX_TXT) {
        fprintf(stderr, "responder: --txt is too long\n");
        exit(64);
    }
    zone.txt[zone.txt_size++] = (uint8_t)count;
    memcpy(zone.txt + zone.txt_size, string, count);
    zone.txt_size += count;
}

static void add_address(const char *text) {
    uint8_t bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1) {
        zone.a_count = zone.fixed_a ? zone.a_count + 1 : 1;
        zone.fixed_a = true;
        if (zone.a_count <= MAX_ADDRESSES)
            memcpy(zone.a[zone.a_count - 1], bytes, 4);
    } else if (inet_pton(AF_INET6, text, bytes) == 1) {
        zone.aaaa_count = zone.fixed_aaaa ? zone.aaaa_count + 1 : 1;
        zone.fixed_aaaa = true;
        if (zone.aaaa_count <= MAX_ADDRESSES)
            memcpy(zone.aaaa[zone.aaaa_count - 1], bytes, 16);
    }
}

static const char *options(int argc, char **argv, bool *announces) {
    static const struct option names[] = {
        {"services", 1, NULL, 'n'}, {"per-host", 1, NULL, 'm'}, {"type", 1, NULL, 't'}, {"prefix", 1, NULL, 'p'},
        {"host-prefix", 1, NULL, 'h'}, {"txt", 1, NULL, 'x'}, {"a", 1, NULL, '4'}, {"aaaa", 1, NULL, '6'},
        {"address", 1, NULL, 'a'}, {"own-addresses", 0, NULL, 'o'},
        {"port", 1, NULL, 'P'}, {"interface", 1, NULL, 'i'}, {"announce", 0, NULL, 'A'}, {NULL, 0, NULL, 0}};
    const char *interface = "eth0";
    char type[128] = "_bench._tcp.local";
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (option) {
        case 'n': zone.services = atoi(optarg); break;
        case 'm': zone.per_host = atoi(optarg); break;
        case 't': snprintf(type, sizeof type, "%s.local", optarg); break;
        case 'p': zone.prefix = optarg; break;
        case 'h': zone.host_prefix = optarg; break;
        case 'x': add_txt(optarg); break;
        case '4': zone.a_count = atoi(optarg); break;
        case '6': zone.aaaa_count = atoi(optarg); break;
        case 'a': add_address(optarg); break;
        case 'o': owns_addresses = true; break;
        case 'P': zone.port = atoi(optarg); break;
        case 'i': interface = optarg; break;
        case 'A': *announces = true; break;
        default:
            fprintf(stderr,
                "usage: responder [--services N] [--per-host N] [--type _bench._tcp] [--prefix svc-] [--host-prefix bench-]\n"
                "    [--txt S]... [--a N] [--aaaa N] [--address A]... [--own-addresses] [--port P] [--interface eth0]\n"
                "    [--announce]\n");
            exit(64);
        }
    bool plain = zone.services >= 1 && zone.services <= 100000 && zone.per_host >= 1 && zone.a_count >= 0 && zone.a_count <= MAX_ADDRESSES &&
        zone.aaaa_count >= 0 && zone.aaaa_count <= MAX_ADDRESSES && strlen(zone.prefix) < 50 &&
        strlen(zone.host_prefix) < 50 &&
        (!owns_addresses || (zone.a_count >= 1 && !zone.fixed_a && (zone.services - 1) / zone.per_host < 0xFFFF));
    if (!plain) {
        fprintf(stderr, "responder: out of range\n");
        exit(64);
    }
    if (!zone.txt_size)
        add_txt("path=/bench");
    name_parse(&zone.type, type);
    return interface;
}

// Where a host sends from; numbers begin with 1.
static union address source(int family, int host) {
    union address address = {0};
    uint8_t bytes[16] = {0xFE, 0x80, [11] = 0x78, [14] = (uint8_t)((host + 1) >> 8), [15] = (uint8_t)(host + 1)};
    if (family == LINK_V4) {
        zone_address(&zone, ITEM_A, host, 0, bytes);
        memcpy(&address.v4.sin_addr, bytes, 4);
        address.v4.sin_family = AF_INET, address.v4.sin_port = htons(MDNS_PORT);
    } else {
        memcpy(&address.v6.sin6_addr, bytes, 16);
        address.v6.sin6_family = AF_INET6, address.v6.sin6_port = htons(MDNS_PORT);
    }
    return address;
}

int main(int argc, char **argv) {
    bool announces = false;
    const char *interface = options(argc, argv, &announces);
    zone_finish(&zone);
    known = calloc((size_t)zone.items, sizeof *known);
    for (int family = 0; family < LINK_FAMILIES; family++) {
        sockets[family] = link_open(family, interface, &groups[family]);
        sent_at[family] = malloc((size_t)zone.items * sizeof(int64_t));
        replies[family] = calloc((size_t)zone.hosts, sizeof(struct reply));
        sources[family] = calloc((size_t)zone.hosts, sizeof(union address));
        place[family] = calloc((size_t)zone.items, sizeof(int));
        if (!known || !sent_at[family] || !replies[family] || !sources[family] || !place[family])
            return 71;
        for (int host = 0; host < zone.hosts; host++)
            replies[family][host].host = host, sources[family][host] = source(family, host);
        for (int host = 0; owns_addresses && sockets[family] >= 0 && host < zone.hosts; host++)
            if (!link_owns(family, interface, &sources[family][host])) {
                fprintf(stderr, "responder: not every host has its IPv%d address on %s\n", family == LINK_V4 ? 4 : 6, interface);
                close(sockets[family]);
                sockets[family] = -1;
            }
        for (int item = 0; item < zone.items; item++)
            sent_at[family][item] = -100000000;
    }
    if (sockets[LINK_V4] < 0 && sockets[LINK_V6] < 0) {
        fprintf(stderr, "responder: no socket on %s: %s\n", interface, strerror(errno));
        return 69;
    }
    srandom((unsigned)now_ms());

    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    struct pollfd fds[] = {
        {.fd = sockets[LINK_V4], .events = POLLIN}, {.fd = sockets[LINK_V6], .events = POLLIN},
        {.fd = signalfd(-1, &stop, SFD_CLOEXEC), .events = POLLIN}};
    for (int family = 0; announces && family < LINK_FAMILIES; family++)
        if (sockets[family] >= 0)
            say_all(family, false);
    printf("ready %d\n", zone.services);
    fflush(stdout);

    static uint8_t data[MAX_PACKET];
    while (!fds[2].revents) {
        int64_t next = -1;
        for (int family = 0; family < LINK_FAMILIES; family++) {
            int64_t due = sockets[family] < 0 ? -1 : speak(family);
            next = due >= 0 && (next < 0 || due < next) ? due : next;
        }
        int64_t wait = next < 0 ? -1 : next - now_ms();
        poll(fds, 3, next < 0 ? -1 : wait < 0 ? 0 : (int)wait);
        for (int family = 0; family < LINK_FAMILIES; family++) {
            union address from, to;
            ssize_t size;
            while (fds[family].revents && (size = link_receive(family, sockets[family], data, sizeof data, &from, &to)) >= 0)
                received(family, data, (size_t)size, &from, &to);
        }
    }
    for (int family = 0; family < LINK_FAMILIES; family++)
        if (sockets[family] >= 0)
            say_all(family, true);
    fprintf(stderr, "responder: %lu queries, %lu questions; %lu packets, %lu records, %lu bytes; %lu suppressed\n",
        total.queries, total.questions, total.responses, total.records, total.bytes, total.suppressed);
    return 0;
}
