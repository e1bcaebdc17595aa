#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "supervisor.h"

pid_t csupervisor_start(const csupervisor_config *config, int *status, int *life) {
    int reports[2], lives[2];
    if (pipe2(reports, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
    if (pipe2(lives, O_CLOEXEC) != 0) {
        int error = errno;
        close(reports[0]);
        close(reports[1]);
        return -error;
    }
    // The child must not run a handler of its owner's; it keeps all blocked and reads its signals from a descriptor.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int error = errno;
    if (pid == 0) supervise(config, reports[1], lives[0]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(reports[1]);
    close(lives[0]);
    if (pid > 0) {
        *status = reports[0];
        *life = lives[1];
        return pid;
    }
    close(reports[0]);
    close(lives[1]);
    return -error;
}
