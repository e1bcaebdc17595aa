// The least that a program on Apple's libdns_sd does to browse and resolve: yardstick-dnssd LIBRARY TYPE COUNT SECONDS. At most
// 256 resolvers at a time. Prints "+;NAME" when a service is found and "=;NAME;HOST;PORT" when it is resolved; ends after COUNT
// of those, or after SECONDS. The library is loaded when it runs, so that this builds without it.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 256, MOST = 1 << 16 };

typedef struct opaque *reference;
typedef void browse_reply(reference, uint32_t, uint32_t, int32_t, const char *, const char *, const char *, void *);
typedef void resolve_reply(
    reference, uint32_t, uint32_t, int32_t, const char *, const char *, uint16_t, uint16_t, const unsigned char *, void *);
static int32_t (*start_browse)(reference *, uint32_t, uint32_t, const char *, const char *, browse_reply *, void *);
static int32_t (*start_resolve)(
    reference *, uint32_t, uint32_t, const char *, const char *, const char *, resolve_reply *, void *);
static int (*descriptor)(reference);
static int32_t (*process)(reference);
static void (*release)(reference);

static struct { char *name; uint32_t interface; } services[MOST];
static struct { reference reference; int service; } resolvers[WINDOW];
static int found, begun, resolved, spent = -1;

static void browsed(
    reference of, uint32_t flags, uint32_t interface, int32_t error, const char *name, const char *type, const char *domain,
    void *context) {
    (void)of, (void)type, (void)domain, (void)context;
    if (error || !(flags & 2) || found == MOST)
        return;
    for (int n = 0; n < found; n++)
        if (!strcmp(services[n].name, name))
            return;
    services[found].interface = interface;
    services[found++].name = strdup(name);
    printf("+;%s\n", name);
}

static void placed(
    reference of, uint32_t flags, uint32_t interface, int32_t error, const char *full, const char *host, uint16_t port,
    uint16_t size, const unsigned char *txt, void *context) {
    (void)of, (void)flags, (void)interface, (void)full, (void)size, (void)txt;
    int slot = (int)(intptr_t)context;
    if (error || spent == slot)
        return;
    printf("=;%s;%s;%d\n", services[resolvers[slot].service].name, host, ntohs(port));
    resolved++;
    spent = slot;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *symbol(void *library, const char *name) {
    void *found_symbol = dlsym(library, name);
    if (!found_symbol) {
        fprintf(stderr, "yardstick-dnssd: %s\n", dlerror());
        exit(69);
    }
    return found_symbol;
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 64;
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "yardstick-dnssd: %s\n", dlerror());
        return 69;
    }
    *(void **)&start_browse = symbol(library, "DNSServiceBrowse");
    *(void **)&start_resolve = symbol(library, "DNSServiceResolve");
    *(void **)&descriptor = symbol(library, "DNSServiceRefSockFD");
    *(void **)&process = symbol(library, "DNSServiceProcessResult");
    *(void **)&release = symbol(library, "DNSServiceRefDeallocate");
    int wanted = atoi(argv[3]);
    double end = now() + atof(argv[4]);
    reference browser;
    if (start_browse(&browser, 0, 0, argv[2], NULL, browsed, NULL))
        return 69;
    while (resolved < wanted && now() < end) {
        struct pollfd fds[WINDOW + 1] = {{.fd = descriptor(browser), .events = POLLIN}};
        for (int n = 0; n < WINDOW; n++) {
            if (!resolvers[n].reference && begun < found) {
                resolvers[n].service = begun++;
                int service = resolvers[n].service;
                if (start_resolve(
                        &resolvers[n].reference, 0, services[service].interface, services[service].name, argv[2], "local.",
                        placed, (void *)(intptr_t)n))
                    resolvers[n].reference = NULL;
            }
            int fd = resolvers[n].reference ? descriptor(resolvers[n].reference) : -1;
            fds[n + 1] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
        poll(fds, WINDOW + 1, 100);
        for (int n = 0; n < WINDOW; n++) {
            if (!fds[n + 1].revents)
                continue;
            spent = -1;
            if (process(resolvers[n].reference) || spent == n) {
                release(resolvers[n].reference);
                resolvers[n].reference = NULL;
            }
        }
        if (fds[0].revents && process(browser))
            return 69;
        fflush(stdout);
    }
    return resolved < wanted;
}
