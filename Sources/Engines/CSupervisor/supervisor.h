// Internal: the process that csupervisor_start makes.

#ifndef DISCOVERD_CSUPERVISOR_SUPERVISOR_H
#define DISCOVERD_CSUPERVISOR_SUPERVISOR_H

#include "CSupervisor.h"

// Called with every signal blocked. `status`: for writing, non-blocking; `life`: for reading.
_Noreturn void supervise(const csupervisor_config *_Nonnull config, int status, int life);

#endif
