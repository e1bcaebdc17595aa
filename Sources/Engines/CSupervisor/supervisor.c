// All of this runs in the child of a process of many threads: async-signal-safe functions and plain system calls only
// (signal-safety(7)), no malloc, no stdio.

#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "isolation.h"
#include "privileges.h"

enum { FIRST_DELAY = 250, LAST_DELAY = 4000, LONG_LIFE = 10000, PATIENCE = 1000, GOODBYES = 5000 };

// One daemon; times are milliseconds of CLOCK_MONOTONIC.
typedef struct child {
    pid_t pid;  // 0: does not run
    int64_t started;
    int64_t due;      // when to start it
    int64_t kill_at;  // when to kill it; 0: never
    int delay;        // before the next start
    csupervisor_event_kind ended, not_run;
} child;

typedef struct supervisor {
    const csupervisor_config *config;
    place place;
    int status, life, signals;
    int ready;  // the reading end of what dbus-daemon prints once it listens, or -1
    bool bus_is_ready, is_ending;
    child bus, avahi;
} supervisor;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void tell(int status, csupervisor_event_kind kind, int value) {
    csupervisor_event event = {.kind = kind, .value = value};
    // Non-blocking: an owner that reads nothing for thousands of events misses the rest.
    (void)!write(status, &event, sizeof event);
}

static void close_between(unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    // Linux before 5.9.
    if (last > 65536) last = 65536;
    for (unsigned fd = first; fd <= last; fd++) close((int)fd);
}

// Sets every handler and the mask back to what they are in a new program.
static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
}

// In the daemon's process: becomes the program. `printed`: what dbus-daemon writes its address to, or -1.
static void become(const supervisor *supervisor, pid_t parent, const child *child, char *const *argv, int printed) {
    if (privileges_give_up(supervisor->config) != 0) {
        tell(supervisor->status, child->not_run, errno);
        _exit(127);
    }
    // The kernel sends it when the thread that forked ends: the supervisor has one only. After the ids, whose change would clear it
    // (prctl(2)).
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Everything else is close-on-exec.
    if (printed >= 0) dup2(printed, 3);
    execve(argv[0], argv, supervisor->config->environment);
    tell(supervisor->status, child->not_run, errno);
    _exit(127);
}

static void start(supervisor *supervisor, child *child, char *const *argv, int printed) {
    pid_t parent = getpid();
    child->started = now();
    child->kill_at = 0;
    pid_t pid = fork();
    if (pid == 0) become(supervisor, parent, child, argv, printed);
    if (pid > 0) {
        child->pid = pid;
    } else {
        tell(supervisor->status, child->not_run, errno);
        child->due = now() + LAST_DELAY;
    }
}

static void start_bus(supervisor *supervisor) {
    int ends[2];
    supervisor->bus.due = now() + LAST_DELAY;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    unlinkat(supervisor->place.directory, "bus", 0);
    start(supervisor, &supervisor->bus, supervisor->config->dbus_argv, ends[1]);
    close(ends[1]);
    if (supervisor->bus.pid > 0) {
        supervisor->ready = ends[0];
    } else {
        close(ends[0]);
    }
}

static void start_avahi(supervisor *supervisor) {
    place_forget_pid();
    start(supervisor, &supervisor->avahi, supervisor->config->avahi_argv, -1);
}

static void bus_printed(supervisor *supervisor) {
    char address[512];
    ssize_t count = read(supervisor->ready, address, sizeof address);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    close(supervisor->ready);
    supervisor->ready = -1;
    if (count <= 0) return;  // it has ended, which SIGCHLD tells
    supervisor->bus_is_ready = true;
    tell(supervisor->status, CSUPERVISOR_BUS_READY, supervisor->bus.pid);
}

static void ended(supervisor *supervisor, child *child, int status) {
    child->pid = 0;
    if (now() - child->started > LONG_LIFE) child->delay = FIRST_DELAY;
    child->due = now() + child->delay;
    child->delay = child->delay * 2 > LAST_DELAY ? LAST_DELAY : child->delay * 2;
    tell(supervisor->status, child->ended, status);
}

static void reap(supervisor *supervisor) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == supervisor->avahi.pid) ended(supervisor, &supervisor->avahi, status);
        if (pid != supervisor->bus.pid) continue;
        ended(supervisor, &supervisor->bus, status);
        supervisor->bus_is_ready = false;
        if (supervisor->ready >= 0) close(supervisor->ready);
        supervisor->ready = -1;
        // Without its bus avahi-daemon ends by itself; one that hangs does not, and would be on no bus.
        if (supervisor->avahi.pid > 0) {
            kill(supervisor->avahi.pid, SIGTERM);
            supervisor->avahi.kill_at = now() + PATIENCE;
        }
    }
}

static void receive_signals(supervisor *supervisor) {
    struct signalfd_siginfo info;
    while (read(supervisor->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM) supervisor->is_ending = true;
    }
    reap(supervisor);
}

// Milliseconds until something is due, at least 0; -1: nothing is.
static int until_due(const supervisor *supervisor) {
    int64_t first = INT64_MAX;
    if (supervisor->bus.pid == 0) first = supervisor->bus.due;
    if (supervisor->avahi.pid == 0 && supervisor->bus_is_ready && supervisor->avahi.due < first) {
        first = supervisor->avahi.due;
    }
    if (supervisor->avahi.pid > 0 && supervisor->avahi.kill_at > 0 && supervisor->avahi.kill_at < first) {
        first = supervisor->avahi.kill_at;
    }
    if (first == INT64_MAX) return -1;
    int64_t left = first - now();
    return left < 0 ? 0 : (int)left;
}

static void start_what_is_due(supervisor *supervisor) {
    int64_t time = now();
    child *bus = &supervisor->bus, *avahi = &supervisor->avahi;
    if (bus->pid == 0 && bus->due <= time) start_bus(supervisor);
    if (avahi->pid == 0 && supervisor->bus_is_ready && avahi->due <= time) start_avahi(supervisor);
    if (avahi->pid > 0 && avahi->kill_at > 0 && avahi->kill_at <= time) {
        kill(avahi->pid, SIGKILL);
        avahi->kill_at = 0;
    }
}

static void run(supervisor *supervisor) {
    while (!supervisor->is_ending) {
        start_what_is_due(supervisor);
        struct pollfd polled[] = {
            {.fd = supervisor->life, .events = POLLIN},
            {.fd = supervisor->signals, .events = POLLIN},
            {.fd = supervisor->ready, .events = POLLIN},
        };
        if (poll(polled, 3, until_due(supervisor)) < 0 && errno != EINTR) return;
        // Nothing is ever written to it: this is its end.
        if (polled[0].revents != 0) return;
        if (polled[2].revents != 0) bus_printed(supervisor);
        if (polled[1].revents != 0) receive_signals(supervisor);
    }
}

// Ends one daemon, with `patience` milliseconds for what it does on SIGTERM.
static void stop(supervisor *supervisor, child *child, int patience) {
    if (child->pid == 0) return;
    int64_t limit = now() + patience;
    if (patience > 0) kill(child->pid, SIGTERM);
    while (child->pid > 0 && now() < limit) {
        struct pollfd polled = {.fd = supervisor->signals, .events = POLLIN};
        poll(&polled, 1, (int)(limit - now()));
        receive_signals(supervisor);
    }
    if (child->pid == 0) return;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
}

_Noreturn void supervise(const csupervisor_config *config, int status, int life) {
    reset_signals();
    signal(SIGPIPE, SIG_IGN);
    setsid();
    prctl(PR_SET_NAME, "discoverd-priv", 0, 0, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

    // Out of the way of 0 to 3, then everything else is closed: this process has all that its owner had open.
    status = fcntl(status, F_DUPFD_CLOEXEC, 16);
    life = fcntl(life, F_DUPFD_CLOEXEC, 16);
    if (status < 0 || life < 0) _exit(1);
    unsigned low = (unsigned)(status < life ? status : life), high = (unsigned)(status < life ? life : status);
    close_between(3, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, ~0U);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(config->passes_output ? 2 : null, 1);
        if (!config->passes_output) dup2(null, 2);
        if (null > 2) close(null);
    }

    supervisor supervisor = {
        .config = config,
        .place = {.directory = -1, .parent = -1, .shared = -1},
        .status = status,
        .life = life,
        .ready = -1,
        .bus = {.delay = FIRST_DELAY, .ended = CSUPERVISOR_BUS_ENDED, .not_run = CSUPERVISOR_BUS_NOT_RUN},
        .avahi = {.delay = FIRST_DELAY, .ended = CSUPERVISOR_AVAHI_ENDED, .not_run = CSUPERVISOR_AVAHI_NOT_RUN},
    };
    csupervisor_event_kind refused = place_prepare(&supervisor.place, config);
    if (refused != 0) {
        tell(status, refused, errno);
        place_remove(&supervisor.place, config);
        place_withdraw(&supervisor.place, config);
        _exit(1);
    }
    if (!supervisor.place.is_isolated) tell(status, CSUPERVISOR_NOT_ISOLATED, errno);

    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    sigaddset(&taken, SIGTERM);
    supervisor.signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (supervisor.signals < 0) {
        tell(status, CSUPERVISOR_FAILED, errno);
    } else {
        run(&supervisor);
        // A thousand services take it seconds; nobody waits for this process longer than it wants to.
        stop(&supervisor, &supervisor.avahi, GOODBYES);
        stop(&supervisor, &supervisor.bus, 0);
    }
    place_remove(&supervisor.place, config);
    place_withdraw(&supervisor.place, config);
    _exit(0);
}
