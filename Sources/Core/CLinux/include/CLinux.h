// What Linux has and Swift's Glibc module does not, a header for each subject.

#ifndef DISCOVERD_CLINUX_H
#define DISCOVERD_CLINUX_H

#include "calls.h"
#include "kernel.h"
#include "multicast.h"
#include "start.h"
#include "terminal.h"

#endif
