// The least that a program on libavahi-client can do to browse and resolve: yardstick-browse TYPE [WINDOW [4|6]].
// At most WINDOW (64) resolvers at a time, one for each service on each interface. Prints "+;NAME" when a service is
// found, "=;NAME;HOST;PORT;ADDRESS" when it is resolved, "!;NAME" when it was not. Ends when Avahi has told all for now
// and no resolver is out.
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-common/error.h>
#include <avahi-common/simple-watch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service {
    char *name, *domain;
    AvahiIfIndex interface;
    AvahiProtocol protocol;
};

enum { BUCKETS = 1 << 15 };

static AvahiSimplePoll *loop;
static AvahiClient *client;
static const char *type;
static struct service *services;
static int buckets[BUCKETS]; // 1 + the index of a service
static int count, next, room, in_flight, window = 64, all_for_now;

static void fail(const char *what, int error) {
    fprintf(stderr, "yardstick-browse: %s: %s\n", what, avahi_strerror(error));
    exit(1);
}

static void advance(void);

static void resolved(
    AvahiServiceResolver *resolver, AvahiIfIndex interface, AvahiProtocol protocol, AvahiResolverEvent event,
    const char *name, const char *kind, const char *domain, const char *host, const AvahiAddress *address, uint16_t port,
    AvahiStringList *txt, AvahiLookupResultFlags flags, void *userdata) {
    (void)interface, (void)protocol, (void)kind, (void)domain, (void)txt, (void)flags, (void)userdata;
    char text[AVAHI_ADDRESS_STR_MAX];
    if (event == AVAHI_RESOLVER_FOUND)
        printf("=;%s;%s;%u;%s\n", name, host, port, avahi_address_snprint(text, sizeof text, address));
    else
        printf("!;%s\n", name);
    avahi_service_resolver_free(resolver);
    in_flight--;
    advance();
}

static void advance(void) {
    while (in_flight < window && next < count) {
        struct service *service = &services[next++];
        if (!avahi_service_resolver_new(
                client, service->interface, service->protocol, service->name, type, service->domain, AVAHI_PROTO_UNSPEC, 0,
                resolved, NULL))
            fail(service->name, avahi_client_errno(client));
        in_flight++;
    }
    if (all_for_now && !in_flight && next == count)
        avahi_simple_poll_quit(loop);
}

static int is_new(const char *name, AvahiIfIndex interface) {
    unsigned hash = (unsigned)interface;
    for (const char *at = name; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    for (;; hash++) {
        int *bucket = &buckets[hash % BUCKETS];
        if (!*bucket) {
            *bucket = count + 1;
            return count < BUCKETS / 2;
        }
        if (services[*bucket - 1].interface == interface && !strcmp(services[*bucket - 1].name, name))
            return 0;
    }
}

static void browsed(
    AvahiServiceBrowser *browser, AvahiIfIndex interface, AvahiProtocol protocol, AvahiBrowserEvent event,
    const char *name, const char *kind, const char *domain, AvahiLookupResultFlags flags, void *userdata) {
    (void)browser, (void)kind, (void)flags, (void)userdata;
    if (event == AVAHI_BROWSER_FAILURE)
        fail("browser", avahi_client_errno(client));
    if (event == AVAHI_BROWSER_NEW && is_new(name, interface)) {
        printf("+;%s\n", name);
        if (count == room)
            services = realloc(services, (size_t)(room = room ? 2 * room : 256) * sizeof *services);
        services[count++] = (struct service){strdup(name), strdup(domain), interface, protocol};
        advance();
    } else if (event == AVAHI_BROWSER_ALL_FOR_NOW) {
        all_for_now = 1;
        advance();
    }
}

static void client_changed(AvahiClient *from, AvahiClientState state, void *userdata) {
    (void)userdata;
    if (state == AVAHI_CLIENT_FAILURE)
        fail("avahi-daemon", avahi_client_errno(from));
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: yardstick-browse TYPE [WINDOW [4|6]]\n");
        return 64;
    }
    type = argv[1];
    window = argc > 2 ? atoi(argv[2]) : 64;
    AvahiProtocol protocol = argc > 3 ? (*argv[3] == '4' ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6) : AVAHI_PROTO_UNSPEC;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int error;
    loop = avahi_simple_poll_new();
    client = avahi_client_new(avahi_simple_poll_get(loop), 0, client_changed, NULL, &error);
    if (!client)
        fail("avahi-daemon", error);
    if (!avahi_service_browser_new(client, AVAHI_IF_UNSPEC, protocol, type, NULL, 0, browsed, NULL))
        fail("browser", avahi_client_errno(client));
    avahi_simple_poll_loop(loop);
    return 0;
}
