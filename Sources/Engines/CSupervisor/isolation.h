// Internal: what belongs to the directory and the namespaces of the supervisor.

#ifndef DISCOVERD_CSUPERVISOR_ISOLATION_H
#define DISCOVERD_CSUPERVISOR_ISOLATION_H

#include "CSupervisor.h"

// The places that the supervisor works on, by descriptors: paths mean other things once /run is a new file system.
typedef struct place {
    int directory;
    int parent;
    // Where the bus is shared, or -1.
    int shared;
    bool is_isolated;
    bool made_avahi_directory;
} place;

// Opens the places and makes the namespaces. Returns 0, or the kind of event that says what failed, with errno.
csupervisor_event_kind place_prepare(place *_Nonnull place, const csupervisor_config *_Nonnull config);

// Removes avahi-daemon's pid file: with a stale one whose number another process has now it would not start.
void place_forget_pid(void);

// Removes all that was made, and the directory.
void place_remove(const place *_Nonnull place, const csupervisor_config *_Nonnull config);

// Removes the shared link to the bus and its lock, when the owner has left them and nobody else has the lock.
void place_withdraw(const place *_Nonnull place, const csupervisor_config *_Nonnull config);

#endif
