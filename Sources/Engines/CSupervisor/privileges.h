// Internal: what the daemons must not have, for they read packets of the network.

#ifndef DISCOVERD_CSUPERVISOR_PRIVILEGES_H
#define DISCOVERD_CSUPERVISOR_PRIVILEGES_H

#include "CSupervisor.h"

// In the process that becomes a daemon: another user's ids where the configuration says so, no supplementary group then, and no
// capability. Returns 0, or -1 with errno: then the daemon must not be run.
int privileges_give_up(const csupervisor_config *_Nonnull config);

#endif
