// The minimal libavahi-client program that publishes many services of one type from one process, until SIGTERM:
// publish-many [--one-group] COUNT [PREFIX [TYPE [PORT]]]. Uses one entry group per service, because Avahi limits a group
// to 32 entries, or a single group where that limit was raised. Prints "ready COUNT" when all are established. The names
// are PREFIX-0000 onwards, the TXT record is number=N.
#include <avahi-client/client.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/simple-watch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

static AvahiSimplePoll *loop;
static int count, groups, established, port;
static bool in_one;
static const char *prefix, *type;

static void fail(const char *what, int error) {
    fprintf(stderr, "publish-many: %s: %s\n", what, avahi_strerror(error));
    exit(1);
}

static void group_changed(AvahiEntryGroup *group, AvahiEntryGroupState state, void *userdata) {
    (void)userdata;
    if (state == AVAHI_ENTRY_GROUP_ESTABLISHED && ++established == groups) {
        printf("ready %d\n", count);
        fflush(stdout);
    } else if (state == AVAHI_ENTRY_GROUP_COLLISION || state == AVAHI_ENTRY_GROUP_FAILURE) {
        fail("not established", avahi_client_errno(avahi_entry_group_get_client(group)));
    }
}

static void publish(AvahiClient *client) {
    AvahiEntryGroup *group = NULL;
    groups = in_one ? 1 : count;
    for (int n = 0; n < count; n++) {
        char name[64], txt[32];
        snprintf(name, sizeof name, "%s-%04d", prefix, n);
        snprintf(txt, sizeof txt, "number=%d", n);
        if ((!group || !in_one) && !(group = avahi_entry_group_new(client, group_changed, NULL)))
            fail("entry group", avahi_client_errno(client));
        int error = avahi_entry_group_add_service(
            group, AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC, 0, name, type, NULL, NULL, (uint16_t)port, txt, NULL);
        if (!error && (!in_one || n == count - 1))
            error = avahi_entry_group_commit(group);
        if (error)
            fail(name, error);
    }
}

static void client_changed(AvahiClient *client, AvahiClientState state, void *userdata) {
    (void)userdata;
    if (state == AVAHI_CLIENT_FAILURE)
        fail("avahi-daemon", avahi_client_errno(client));
    if (state == AVAHI_CLIENT_S_RUNNING && !groups)
        publish(client);
}

static void stopped(AvahiWatch *watch, int fd, AvahiWatchEvent event, void *userdata) {
    (void)watch, (void)fd, (void)event, (void)userdata;
    avahi_simple_poll_quit(loop);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--one-group"))
        in_one = true, argv++, argc--;
    if (argc < 2 || (count = atoi(argv[1])) < 1) {
        fprintf(stderr, "usage: publish-many [--one-group] COUNT [PREFIX [TYPE [PORT]]]\n");
        return 64;
    }
    prefix = argc > 2 ? argv[2] : "many";
    type = argc > 3 ? argv[3] : "_witap._tcp";
    port = argc > 4 ? atoi(argv[4]) : 9000;

    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    loop = avahi_simple_poll_new();
    const AvahiPoll *poll = avahi_simple_poll_get(loop);
    poll->watch_new(poll, signalfd(-1, &stop, SFD_CLOEXEC), AVAHI_WATCH_IN, stopped, NULL);
    int error;
    AvahiClient *client = avahi_client_new(poll, 0, client_changed, NULL, &error);
    if (!client)
        fail("avahi-daemon", error);
    avahi_simple_poll_loop(loop);
    avahi_client_free(client); // the connection's end withdraws everything
    return 0;
}
