// Runs a command and says what it cost: measure FD COMMAND [ARG]...
// Its standard streams are the command's. On FD comes one line: START END USER SYSTEM RSS STATUS; START and END are
// CLOCK_MONOTONIC in s, USER and SYSTEM s of CPU, RSS the peak in KiB, of the command and what it waited for. A small
// process forks it, because Linux counts the peak of the forking process as the child's. SIGTERM is passed on.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;

static void pass_on(int number) {
    if (child > 0)
        kill(child, number);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    int fd = atoi(argv[1]), status;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    struct rusage usage;
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    double start = now();
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 71;
    dprintf(fd, "%.6f %.6f %.6f %.6f %ld %d\n", start, now(), seconds(usage.ru_utime), seconds(usage.ru_stime),
        usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
