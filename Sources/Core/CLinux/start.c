#define _GNU_SOURCE
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EX_OSERR = 71, MOST_DESCRIPTORS = 64 };

// Of a thread where `ulimit -s` is unlimited, on the machines that discoverd is built for (pthread_create(3)).
static const size_t stack_without_limit = (size_t)2 << 20;

static void give_up(const char *program, const char *text) {
    char line[512];
    int length = snprintf(line, sizeof line, "%s: error: %s\n", program, text);
    if (length > 0) (void)!write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
    _exit(EX_OSERR);
}

// The numbers count, not the kind: an eventfd needs no file.
static void require_descriptors(const char *program, int wanted) {
    int opened[MOST_DESCRIPTORS], count = 0, error = 0;
    if (wanted > MOST_DESCRIPTORS) wanted = MOST_DESCRIPTORS;
    while (count < wanted) {
        int fd = eventfd(0, EFD_CLOEXEC);
        if (fd < 0) {
            error = errno;
            break;
        }
        opened[count++] = fd;
    }
    for (int i = 0; i < count; i++) close(opened[i]);
    if (error == 0) return;
    char text[256];
    snprintf(text, sizeof text, "%d file descriptors can be opened, and %d are needed (%s): raise 'ulimit -n'", count, wanted,
             strerror(error));
    give_up(program, text);
}

static size_t stack_size(void) {
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY) return stack_without_limit;
    return (size_t)stack.rlim_cur;
}

static void require_space(const char *program, const cprocessstart_need *need) {
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
    // A heap for each thread reserves 64 MiB at a time (arena.c of glibc).
    mallopt(M_ARENA_MAX, 1);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = (size_t)need->threads + (processors > 0 ? (size_t)processors : 1), wanted;
    if (__builtin_mul_overflow(threads, stack_size(), &wanted) || __builtin_add_overflow(wanted, need->space, &wanted)) return;
    void *reserved = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved != MAP_FAILED) {
        munmap(reserved, wanted);
        return;
    }
    char text[256];
    snprintf(text, sizeof text,
             "the address space is limited to %zu KiB, and %zu KiB more than the program itself are needed: raise 'ulimit -v'",
             (size_t)space.rlim_cur / 1024, wanted / 1024);
    give_up(program, text);
}

void cprocessstart(const char *program, cprocessstart_need need) {
    // Swift reads CommandLine.arguments from /proc/self/cmdline, and has none without; libdispatch looks at each of its threads in
    // /proc/TID/stat, and traps (workqueue.c).
    if (access("/proc/self/stat", R_OK) != 0) {
        give_up(program, "/proc is not there, and is needed: mount it (mount -t proc proc /proc)");
    }
    require_descriptors(program, need.descriptors);
    require_space(program, &need);
}
