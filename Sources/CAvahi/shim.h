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

#endif
