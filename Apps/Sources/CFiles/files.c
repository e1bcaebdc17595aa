#define _GNU_SOURCE
#include "CFiles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

long long cfiles_birth(int descriptor) {
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return 0;
    if ((status.stx_mask & STATX_BTIME) == 0) return 0;
    return status.stx_btime.tv_sec * 1000000000LL + status.stx_btime.tv_nsec;
}

int cfiles_rename_new(int folder, const char *from, const char *to) {
    // RENAME_NOREPLACE, 1 in <linux/fs.h>; musl has no renameat2.
    return (int)syscall(SYS_renameat2, folder, from, folder, to, 1U);
}
