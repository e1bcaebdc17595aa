#include "multicast.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int cmulticast_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

void cmulticast_set_timer(int timer, int64_t seconds, int64_t nanoseconds) {
    const struct itimerspec after = {.it_value = {(time_t)seconds, (long)nanoseconds}};
    timerfd_settime(timer, 0, &after, 0);
}

bool cmulticast_timer_has_fired(int timer) {
    uint64_t count;
    return read(timer, &count, sizeof count) == sizeof count;
}
