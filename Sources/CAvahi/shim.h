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
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// EFD_CLOEXEC and EFD_NONBLOCK are macros of themselves, which Swift does not import.
static inline int cavahi_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// prctl is variadic. `name` is cut to 15 bytes (prctl(2)).
static inline void cavahi_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
