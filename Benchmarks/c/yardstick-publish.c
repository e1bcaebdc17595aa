// The least that a program on libavahi-client can do to publish N services: yardstick-publish N one|each [TYPE].
// All in one entry group (Avahi's limit is 32 entries a group unless it was raised) or each in one of its own. Prints
// "called MS" when every call has returned, "established MS" when all groups are, both since it was started, and
// withdraws all on SIGTERM.
#include <avahi-client/client.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/simple-watch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

static AvahiSimplePoll *loop;
static const char *type = "_bench._tcp";
static int count, groups, established, in_one;
static struct timespec started;

static void fail(const char *what, int error) {
    fprintf(stderr, "yardstick-publish: %s: %s\n", what, avahi_strerror(error));
    exit(1);
}

static void say(const char *what) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double ms = (double)(now.tv_sec - started.tv_sec) * 1e3 + (double)(now.tv_nsec - started.tv_nsec) / 1e6;
    printf("%s %.1f\n", what, ms);
    fflush(stdout);
}

static void changed(AvahiEntryGroup *group, AvahiEntryGroupState state, void *userdata) {
    (void)userdata;
    if (state == AVAHI_ENTRY_GROUP_ESTABLISHED && ++established == groups)
        say("established");
    else if (state == AVAHI_ENTRY_GROUP_COLLISION || state == AVAHI_ENTRY_GROUP_FAILURE)
        fail("not established", avahi_client_errno(avahi_entry_group_get_client(group)));
}

static void publish(AvahiClient *client) {
    AvahiEntryGroup *group = NULL;
    int error;
    groups = in_one ? 1 : count;
    for (int n = 0; n < count; n++) {
        char name[32];
        snprintf(name, sizeof name, "svc-%05d", n);
        if ((!group || !in_one) && !(group = avahi_entry_group_new(client, changed, NULL)))
            fail("entry group", avahi_client_errno(client));
        error = avahi_entry_group_add_service(
            group, AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC, 0, name, type, NULL, NULL, 9000, "path=/bench", NULL);
        if (!error && (!in_one || n == count - 1))
            error = avahi_entry_group_commit(group);
        if (error)
            fail(name, error);
    }
    say("called");
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
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (argc < 3 || (count = atoi(argv[1])) < 1) {
        fprintf(stderr, "usage: yardstick-publish N one|each [TYPE]\n");
        return 64;
    }
    in_one = !strcmp(argv[2], "one");
    if (argc > 3)
        type = argv[3];
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
