/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "unit.h"

#include "discover/discover.h"

char *unit_cases_read(const char *path)
{
	enum { MAX = 1 << 20 };
	FILE *file = fopen(path, "re");
	char *text = malloc(MAX);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	size_t n = fread(text, 1, MAX - 1, file);
	CU_ASSERT_FATAL(n > 0 && n < MAX - 1);
	text[n] = '\0';
	fclose(file);
	return text;
}

/** The next line.  @end  Whether to end this one. */
static char *next_line(char *line, bool end)
{
	char *to = line + strcspn(line, "\n"), *next = *to ? to + 1 : to;
	if (end)
		*to = '\0';
	return next;
}

static void begin_part(struct unit_case *c, const char *head, char *text)
{
	CU_ASSERT_FATAL(c->count < sizeof(c->parts) / sizeof(*c->parts));
	c->parts[c->count].head = head;
	c->parts[c->count++].text = text;
}

static void end_part(struct unit_case *c, char *to)
{
	static const char none[] = "\n\\ no newline\n";
	const char *from = c->parts[c->count - 1].text;
	size_t n = sizeof(none) - 1;
	if ((size_t)(to - from) >= n && memcmp(to - n, none, n) == 0)
		to -= n;
	*to = '\0';
}

bool unit_case(const char *path, struct unit_case *c)
{
	static char *file, *at;
	char *line, *next;
	if (!file)
		at = file = unit_cases_read(path);
	line = at;
	while (*line && strncmp(line, "== ", 3) != 0)
		line = next_line(line, false);
	if (!*line) {
		free(file);
		file = NULL;
		return false;
	}
	*c = (struct unit_case){.name = line + 3};
	next = next_line(line, true);
	begin_part(c, "", next);
	for (line = next; *line && strncmp(line, "\n== ", 4) != 0; line = next) {
		bool head = strncmp(line, "-- ", 3) == 0;
		next = next_line(line, head);
		if (head) {
			end_part(c, line);
			begin_part(c, line + 3, next);
		}
	}
	at = *line ? line + 1 : line;
	end_part(c, line);
	return true;
}

char *unit_case_word(char **at, char **value)
{
	char *word = *at + strspn(*at, " ");
	if (!*word)
		return NULL;
	*at = word + strcspn(word, " ");
	if (**at)
		*(*at)++ = '\0';
	*value = strchr(word, '=');
	if (*value)
		*(*value)++ = '\0';
	return word;
}

size_t unit_each_row(const char *path, void (*check)(const char *row, const char *outcome))
{
	size_t count = 0;
	char *text = unit_cases_read(path), *next;
	for (char *line = text; *line; line = next) {
		next = next_line(line, true);
		char *outcome = strstr(line, " ->");
		if (*line == '#')
			continue;
		CU_ASSERT_PTR_NOT_NULL_FATAL(outcome);
		*outcome = '\0';
		outcome += 3 + (outcome[3] == ' ');
		unit_note("%s -> %s", line, outcome);
		check(line, outcome);
		++count;
	}
	free(text);
	return count;
}

const char *unit_lines(const char *row)
{
	static char text[1024];
	size_t n = 0;
	for (; *row; ++row)
		text[n++] = strncmp(row, "; ", 2) == 0 ? ++row, '\n' : *row;
	strcpy(text + n, "\n");
	return text;
}

struct discovery *unit_discover(const char *mountinfo)
{
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct mount_table *table = table_parse_mountinfo(mountinfo, strlen(mountinfo));
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_EQUAL(table->nproblems, 0);
	struct discovery *d = discover(&os, NULL, table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
	return d;
}

void unit_discovery_free(struct discovery *d)
{
	struct mount_table *table = (struct mount_table *)(uintptr_t)d->table;
	discovery_free(d);
	table_free(table);
}
