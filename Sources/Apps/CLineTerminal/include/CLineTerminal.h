#ifndef CLINETERMINAL_H
#define CLINETERMINAL_H

#include <stdbool.h>

/// Takes keys as they are typed, without echo; signals and the screen stay as they are. From then on the terminal is restored
/// when the process crashes or is stopped by Ctrl-Z. False when standard input and output are no terminal.
bool clineterminal_enter(void);

/// Back to what was before. May be called again and in a signal handler; keeps errno.
void clineterminal_restore(void);

/// The terminal's columns; 80 when they are unknown.
int clineterminal_columns(void);

#endif
