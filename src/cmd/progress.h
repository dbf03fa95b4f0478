/* SPDX-License-Identifier: MIT */
/** A line on the terminal that shows the progress of a search. */
#ifndef GM_CMD_PROGRESS_H
#define GM_CMD_PROGRESS_H

#include "discover/discover.h"

#include <stdbool.h>

/** If stderr is a terminal, prepare to show progress on stderr.  Otherwise prepare to end with
    SIGPIPE when the reader of stdout is gone.
    @return the function for struct discover_opts; its argument is the struct run. */
discover_progress_fn *progress_begin(void);

/** Prepare to show a progress line, and catch the signals that clear it.
    @return whether the line may be shown: stdout and stderr are terminals. */
bool progress_open(void);

/** Show a progress line, truncated to the width of the terminal.
    @head   The text of the line.
    @where  A path that is escaped and appended; or NULL. */
void progress_line(const char *head, const char *where);

/** Raise SIGPIPE if the reader of stdout is gone, so that the search ends. */
void progress_reader(struct os *os);

/** Clear the progress line. */
void progress_end(void);

#endif
