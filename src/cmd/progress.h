/* SPDX-License-Identifier: MIT */
/** The line of progress. */
#ifndef GM_CMD_PROGRESS_H
#define GM_CMD_PROGRESS_H

#include "discover/discover.h"

#include <stdbool.h>

/** Prepare to show progress on stderr if it is a terminal; otherwise to end with SIGPIPE when the
    reader of stdout is gone.
    @return the function for struct discover_opts; its argument is the struct run. */
discover_progress_fn *progress_begin(void);

/** Prepare to show a progress line, and catch the signals that clear it.
    @return whether the line may be shown: stdout and stderr are terminals. */
bool progress_open(void);

/** Show a progress line, truncated to the width of the terminal. */
void progress_line(const char *head, const char *where);

/** Raise SIGPIPE if the reader of stdout is gone, so that the search ends. */
void progress_reader(struct os *os);

/** Clear the progress line. */
void progress_end(void);

#endif
