// libavahi-client and libavahi-common, for Swift: their own headers. The functions are found when the first of them is called (avahi.c).
//
// Never libavahi-core: it exports avahi_entry_group_free with other arguments, and in one process with libavahi-client
// that aborts (docs/architecture.md).

#ifndef DISCOVERD_CAVAHI_H
#define DISCOVERD_CAVAHI_H

#if !__has_include(<avahi-client/client.h>)
#error "the headers of Avahi are missing: apt-get install libavahi-client-dev"
#endif

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/defs.h>
#include <avahi-common/error.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>
#include <stdbool.h>

// Whether libavahi-client is there.
bool cavahi_is_installed(void);

#endif
