// libavahi-client and libavahi-common, for Swift.
//
// Never libavahi-core: it exports avahi_entry_group_free with other arguments, and in one process with libavahi-client
// that aborts (docs/architecture.md).

#ifndef DISCOVERD_CAVAHI_SHIM_H
#define DISCOVERD_CAVAHI_SHIM_H

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/defs.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>
#include <linux/rtnetlink.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

// EFD_CLOEXEC and EFD_NONBLOCK are macros of themselves, which Swift does not import.
static inline int cavahi_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// prctl is variadic. `name` is cut to 15 bytes (prctl(2)).
static inline void cavahi_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// A socket that can be read from whenever a link or an address has changed (rtnetlink(7)); -1 if there is none to be had.
// Glibc's module has neither sockaddr_nl nor the groups.
static inline int cavahi_link_monitor(void) {
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

#endif
