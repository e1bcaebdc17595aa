// LD_PRELOAD: the process is killed when it calls the function named by $KILL_IN: "rename", or "fsync".
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void perhaps_die(const char *function) {
    const char *wanted = getenv("KILL_IN");
    if (wanted && !strcmp(wanted, function))
        kill(getpid(), SIGKILL);
}

int rename(const char *from, const char *to) {
    perhaps_die("rename");
    return (int)syscall(SYS_renameat2, -100 /* AT_FDCWD */, from, -100, to, 0);
}

int fsync(int file) {
    perhaps_die("fsync");
    return (int)syscall(SYS_fsync, file);
}
