/* SPDX-License-Identifier: MIT */
/**
 * Cases that are read from a file of tests/fixtures/.
 *
 *     == NAME
 *     text
 *     -- HEAD
 *     text
 *
 * A blank line precedes each case but is not part of the text before it.  If the last line of a
 * text is "\ no newline", the text has no newline at its end.  What precedes the first case is a
 * comment.
 */
#ifndef GM_UNIT_CASES_H
#define GM_UNIT_CASES_H

#include <stdbool.h>
#include <stddef.h>

struct unit_case {
	const char *name;
	struct {
		const char *head;    /* "" of the first */
		char *text;
	} parts[16];
	size_t count;
};

/** Read a file.  @return its text, to be freed; fails the test if it cannot. */
char *unit_cases_read(const char *path);

/** The next case of a file.  @return false after the last; then the file is freed. */
bool unit_case(const char *path, struct unit_case *c);

/** Cut the next "WORD" or "WORD=VALUE" off.  @value [out]  NULL if it has none.
    @return the word, or NULL after the last. */
char *unit_case_word(char **at, char **value);

/** Call a function for each line "ROW -> OUTCOME" of a file; '#' begins a comment.
    @return the number of rows. */
size_t unit_each_row(const char *path, void (*check)(const char *row, const char *outcome));

/** The lines of a row, which has "; " between them; valid until the next call. */
const char *unit_lines(const char *row);

struct discovery;

/** Discover from the text of a mountinfo file alone, without kernel calls; fails the test if it
    cannot.  @return to be freed by unit_discovery_free(). */
struct discovery *unit_discover(const char *mountinfo);

/** Free a discovery and its table. */
void unit_discovery_free(struct discovery *d);

#endif
