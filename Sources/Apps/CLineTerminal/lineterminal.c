// C, because what runs in a signal handler must be async-signal-safe (signal-safety(7)), which Swift does not promise.
#define _GNU_SOURCE
#include "CLineTerminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE};
static struct termios saved;
static struct sigaction previous[NSIG];
// is_wanted: to be entered again when the process is continued.
static volatile sig_atomic_t is_entered, is_wanted;

static bool enter(void) {
    struct termios raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    // Ctrl-W and Ctrl-U are for the editor, Ctrl-D is the end.
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
    is_entered = 1;
    return true;
}

static void leave(void) {
    if (!is_entered) return;
    int error = errno;
    is_entered = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    errno = error;
}

void clineterminal_restore(void) {
    is_wanted = 0;
    leave();
}

static void crashed(int number) {
    clineterminal_restore();
    sigaction(number, &previous[number], NULL);
    // A fault comes again when this returns; SIGABRT and kill(2) do not.
    raise(number);
}

static void continued(int number) {
    (void)number;
    int error = errno;
    if (is_wanted) enter();
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
    // Here it has been continued.
    sigaction(number, &ours, NULL);
    errno = error;
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, &previous[number]);
}

bool clineterminal_enter(void) {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved) != 0) return false;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) handle(crashes[i], crashed, SA_ONSTACK);
    handle(SIGTSTP, stopped, SA_RESTART);
    handle(SIGCONT, continued, SA_RESTART);
    is_wanted = 1;
    return enter();
}

int clineterminal_columns(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
