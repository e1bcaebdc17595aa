// C, because what runs in a signal handler must be async-signal-safe (signal-safety(7)), which Swift does not promise.
#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Bracketed paste, so that what is pasted is no key.
static const char entering[] = "\033[?1049h\033[?25l\033[?2004h\033[H\033[2J";
static const char mouse_on[] = "\033[?1000h\033[?1006h";
static const char leaving[] = "\033[?1006l\033[?1000l\033[?2004l\033[0m\033[?25h\033[?1049l";
static const int crashes[] = {SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE};

static struct termios saved;
static struct sigaction previous[NSIG];
// is_wanted: raw mode is to come back when the process is continued.
static volatile sig_atomic_t is_raw, is_wanted, redraw;
// Set before is_raw is.
static bool has_screen, has_mouse;
static int pipe_ends[2] = {-1, -1};
// Odd while the screen may be drawn on. What began to be drawn under another number is not finished.
static atomic_uint epoch;
// The thread that draws; 0: none does.
static atomic_int drawer;
// The thread that gives the terminal back; 0: none does.
static atomic_int leaver;
// How long a drawing of another thread is waited for.
static const int patience_milliseconds = 2000;

static void say(const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, text, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

static bool make_raw(void) {
    struct termios raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (has_screen) {
        raw.c_lflag &= ~(tcflag_t)IEXTEN;
        raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    }
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
    is_raw = 1;
    if (has_screen) say(entering, sizeof entering - 1);
    if (has_mouse) say(mouse_on, sizeof mouse_on - 1);
    if (atomic_load(&epoch) % 2 == 0) atomic_fetch_add(&epoch, 1);
    return true;
}

static void resized(int number) {
    (void)number;
    redraw = 1;
    cterminal_wake();
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, &old) == 0 && old.sa_handler != handler) previous[number] = old;
}

// Ends all drawing. Of this thread's own, which a signal interrupted, the rest is left out when it goes on.
static void end_drawing(void) {
    if (atomic_load(&epoch) % 2 == 1) atomic_fetch_add(&epoch, 1);
    // Ctrl-Z and Ctrl-C throw away what the terminal has not read yet, and Linux does not wake a write(2) that waits for
    // room there. So the other thread gets a signal that ends its call.
    handle(SIGWINCH, resized, 0);
    for (int passed = 0; passed < patience_milliseconds; passed++) {
        int thread = atomic_load(&drawer);
        if (thread == 0 || thread == gettid()) break;
        tgkill(getpid(), thread, SIGWINCH);
        poll(NULL, 0, 1);
    }
    handle(SIGWINCH, resized, SA_RESTART);
}

static void give_back(void) {
    if (!is_raw) return;
    is_raw = 0;
    end_drawing();
    if (has_screen) {
        say(leaving, sizeof leaving - 1);
        // What was typed or reported by the mouse meanwhile is not for the shell.
        tcflush(STDIN_FILENO, TCIFLUSH);
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

static void leave(void) {
    int error = errno, other = 0;
    if (atomic_compare_exchange_strong(&leaver, &other, gettid())) {
        give_back();
        atomic_store(&leaver, 0);
    } else if (other != gettid()) {
        // Whoever returns from here may end the process: not before the other thread is done, which may wait for a drawing.
        for (int passed = 0; passed < patience_milliseconds + 500 && atomic_load(&leaver) != 0; passed++)
            poll(NULL, 0, 1);
    }
    errno = error;
}

void cterminal_restore(void) {
    is_wanted = 0;
    leave();
}

static void crashed(int number) {
    cterminal_restore();
    sigaction(number, &previous[number], NULL);
    // A fault comes again when this returns; SIGABRT and kill(2) do not.
    raise(number);
}

static void continued(int number) {
    if (!is_wanted) return;
    int error = errno;
    if (!cterminal_may_read()) {
        // `bg`: as top does, it waits for `fg`, which sends no signal to a job that runs.
        if (has_screen) raise(SIGTTIN);
        errno = error;
        return;
    }
    make_raw();
    resized(number);
    errno = error;
}

// Ctrl-Z: the shell gets its terminal as it was.
static void stopped(int number) {
    int error = errno;
    leave();
    struct sigaction ours, stop;
    memset(&stop, 0, sizeof stop);
    stop.sa_handler = SIG_DFL;
    sigaction(number, &stop, &ours);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    // Here it has been continued, and SIGCONT's handler has run.
    sigaction(number, &ours, NULL);
    errno = error;
}

bool cterminal_may_read(void) { return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp(); }

bool cterminal_enter(bool screen, bool mouse) {
    // A background job that sets the terminal is stopped by SIGTTOU.
    if (!cterminal_may_read()) {
        errno = ENOTTY;
        return false;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved) != 0) return false;
    if (cterminal_wakeups() < 0) return false;
    has_screen = screen;
    has_mouse = mouse;
    static bool has_handlers;
    if (!has_handlers) {
        has_handlers = true;
        atexit(cterminal_restore);
        for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) handle(crashes[i], crashed, SA_ONSTACK);
        handle(SIGWINCH, resized, SA_RESTART);
        // Without SA_RESTART: a write that it interrupts must not go on when the process is continued.
        handle(SIGTSTP, stopped, 0);
        handle(SIGCONT, continued, SA_RESTART);
    }
    is_wanted = 1;
    return make_raw();
}

bool cterminal_draw(const void *bytes, size_t length) {
    const char *rest = bytes;
    bool is_read = true;
    atomic_store(&drawer, gettid());
    // After the store: whoever ends drawing sees the thread, or the thread sees the end.
    unsigned ours = atomic_load(&epoch);
    while (length > 0 && ours % 2 == 1 && atomic_load(&epoch) == ours) {
        ssize_t written = write(STDOUT_FILENO, rest, length);
        if (written >= 0) {
            rest += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
            poll(&output, 1, -1);
        } else if (errno != EINTR) {
            is_read = false;
            break;
        }
    }
    atomic_store(&drawer, 0);
    return is_read;
}

int cterminal_wakeups(void) {
    if (pipe_ends[0] < 0 && pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    return pipe_ends[0];
}

void cterminal_wake(void) {
    int error = errno;
    if (pipe_ends[1] >= 0 && write(pipe_ends[1], "", 1) < 0) { /* full: it is readable already */ }
    errno = error;
}

bool cterminal_take_redraw(void) {
    bool wanted = redraw;
    redraw = 0;
    return wanted;
}

bool cterminal_size(int *rows, int *columns) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return false;
    *rows = size.ws_row;
    *columns = size.ws_col;
    return true;
}
