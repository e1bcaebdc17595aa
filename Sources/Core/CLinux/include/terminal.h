#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/// A terminal in raw mode. All of it is for one terminal, the process's own: standard input and output.

/// Takes keys as they are typed, without echo; signals stay on. With `screen` also the alternate screen, no cursor, and bracketed
/// paste; with `mouse` mouse reports. From then on the terminal is restored when the process crashes (SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE),
/// exits, or is stopped by Ctrl-Z. Not while it is entered. False, with errno, when there is no terminal, or another job has it.
bool cterminal_enter(bool screen, bool mouse);

/// Whether this process may read standard input: it is no terminal, or this is the terminal's foreground job. Async-signal-safe.
bool cterminal_may_read(void);

/// Back to what was before `cterminal_enter`. May be called again and in a signal handler; keeps errno.
void cterminal_restore(void);

/// Writes to standard output while the terminal is entered, from one thread at a time. What is left when the process is stopped or the terminal is
/// restored is not written: the screen is the shell's by then, and after SIGCONT all of it is to be drawn anew.
/// False when no one reads it any more.
bool cterminal_draw(const void *_Nonnull bytes, size_t length);

/// A descriptor that becomes readable when the screen is to be drawn anew (it has another size, or the process was continued)
/// and after `cterminal_wake`; -1 when there are no descriptors left. Read it empty.
int cterminal_wakeups(void);

/// Makes `cterminal_wakeups()` readable.
void cterminal_wake(void);

/// Takes the wish of a signal to have the screen drawn anew.
bool cterminal_take_redraw(void);

/// The size of standard output's terminal; false when it is none.
bool cterminal_size(int *_Nonnull rows, int *_Nonnull columns);

#endif
