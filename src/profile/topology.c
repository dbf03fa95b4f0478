/* SPDX-License-Identifier: MIT */
#include "profile/topology.h"

#include "base/escape.h"
#include "table/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, NAME_BYTES = 255, FANOUT_MAX = 100000, WORDS = 6 };

const char topology_default[] =
	"# A host as in Figure 4 of CUCS-323-88: a root with some dozens of mounts near it.\n"
	"seed 1988\n"
	"dirs / 60 2 20 3\n"
	"dirs /etc 120 3 12 6\n"
	"mount /tmp\n"
	"mount /boot\n"
	"dirs /boot 6 2 4 4\n"
	"mount /usr\n"
	"dirs /usr/bin 3 1 3 60\n"
	"dirs /usr/lib 900 5 9 4\n"
	"dirs /usr/share 1400 6 10 3\n"
	"mount /usr/local\n"
	"dirs /usr/local/share 300 4 8 3\n"
	"mount /usr/local/lib\n"
	"dirs /usr/local/lib 60 3 6 4\n"
	"mount /usr/src\n"
	"dirs /usr/src 700 6 7 5\n"
	"mount /var\n"
	"dirs /var/lib 400 5 8 3\n"
	"mount /var/log\n"
	"dirs /var/log 30 2 10 5\n"
	"mount /var/spool\n"
	"dirs /var/spool 90 3 8 4\n"
	"mount /var/spool/mail\n"
	"files /var/spool/mail 120\n"
	"mount /var/spool/news\n"
	"dirs /var/spool/news 900 6 9 2\n"
	"mount /opt\n"
	"dirs /opt 250 5 7 3\n"
	"mount /home\n"
	"files /home 3\n"
	"mount /home/u1\nmount /home/u2\nmount /home/u3\nmount /home/u4\n"
	"mount /home/u5\nmount /home/u6\nmount /home/u7\nmount /home/u8\n"
	"dirs /home/u1 200 5 7 4\ndirs /home/u2 40 4 6 4\ndirs /home/u3 300 6 6 4\ndirs /home/u4 10 2 6 4\n"
	"dirs /home/u5 120 5 7 4\ndirs /home/u6 60 4 6 4\ndirs /home/u7 90 6 6 4\ndirs /home/u8 25 3 6 4\n"
	"mount /srv/a1/data\nmount /srv/a2/data\nmount /srv/a3/data\n"
	"mount /srv/a4/data\nmount /srv/a5/data\nmount /srv/a6/data\n"
	"dirs /srv/a1/data 150 4 6 3\ndirs /srv/a2/data 30 3 6 3\ndirs /srv/a3/data 220 5 6 3\n"
	"dirs /srv/a4/data 70 4 6 3\ndirs /srv/a5/data 15 2 6 3\ndirs /srv/a6/data 110 4 6 3\n"
	"mount /net/fs1\nmount /net/fs2\nmount /net/fs3\nmount /net/fs4\n"
	"dirs /net/fs1 200 5 6 3\ndirs /net/fs2 350 5 7 3\ndirs /net/fs3 20 3 6 3\ndirs /net/fs4 90 4 6 3\n";

/** Note what is wrong, once.  @return false. */
__attribute__((format(printf, 3, 4)))
static bool wrong(struct topology *t, uint32_t number, const char *format, ...)
{
	va_list args;
	if (t->bad_line)
		return false;
	va_start(args, format);
	vsnprintf(t->why, sizeof(t->why), format, args);
	va_end(args);
	t->bad_line = number;
	return false;
}

/** See that a path names something below the root, and nothing else. */
static bool path_is_good(struct topology *t, uint32_t number, const char *path)
{
	if (path[0] != '/')
		return wrong(t, number, "\"%.60s\" is no absolute path", path);
	if (strlen(path) > PATH_BYTES)
		return wrong(t, number, "the path is longer than %d bytes", PATH_BYTES);
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if ((n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return wrong(t, number, "\"%.*s\" in a path: write where it leads", (int)n, at);
		if (n > NAME_BYTES)
			return wrong(t, number, "a name is longer than %d bytes", NAME_BYTES);
		at += n;
	}
	return true;
}

/** Whether an absolute path is the root, which is there already. */
static bool is_root(const char *path)
{
	return path[0] == '/' && path[strspn(path, "/")] == '\0';
}

const char *topology_anew(const char *before, const char *path)
{
	for (const char *at = path;;) {
		const char *name = at + strspn(at, "/");
		size_t n = strcspn(name, "/");
		before += strspn(before, "/");
		if (n == 0 || n != strcspn(before, "/") || memcmp(name, before, n) != 0)
			return at;
		at = name + n;
		before += n;
	}
}

/** How many names a path has. */
static uint64_t names_of(const char *path)
{
	uint64_t sum = 0;
	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		path += strcspn(path, "/");
		++sum;
	}
	return sum;
}

/** Add a line, whose path is copied.  @return whether that went well; errno is 0 where it is wrong. */
static bool add(struct topology *t, const struct topology_line *line)
{
	if (!path_is_good(t, line->number, line->path))
		return false;
	t->mounts += line->verb == TOPOLOGY_MOUNT;
	t->dirs += line->verb == TOPOLOGY_DIRS ? line->count : 0;
	t->files += line->verb == TOPOLOGY_FILES ? line->count : (uint64_t)line->count * line->files;
	t->way += names_of(topology_anew(t->count ? t->lines[t->count - 1].path : "", line->path));
	if (t->mounts > TOPOLOGY_MOUNTS)
		return wrong(t, line->number, "more than %d mounts", TOPOLOGY_MOUNTS);
	if (t->dirs + t->files + t->way > TOPOLOGY_INODES)
		return wrong(t, line->number, "more than %d directories and files, %llu of them on the way to others",
		             TOPOLOGY_INODES, (unsigned long long)t->way);
	if (t->count == TOPOLOGY_LINES)
		return wrong(t, line->number, "more than %d lines", TOPOLOGY_LINES);
	if ((t->count & (t->count - 1)) == 0) {
		void *more = realloc(t->lines, (t->count ? 2 * t->count : 1) * sizeof(*t->lines));
		if (!more) {
			errno = ENOMEM;
			return false;
		}
		t->lines = more;
	}
	char *path = strdup(line->path);
	if (!path)
		return false;
	t->lines[t->count] = *line;
	t->lines[t->count++].path = path;
	return true;
}

/** Read a number up to a bound. */
static bool number_of(struct topology *t, uint32_t at, const char *what, const char *word, uint64_t least,
                      uint64_t most, uint64_t *value)
{
	uint64_t sum = 0;
	size_t n = strlen(word);
	bool good = n > 0 && n <= 20 && strspn(word, "0123456789") == n;
	for (size_t i = 0; good && i < n; ++i) {
		uint64_t digit = (uint64_t)(word[i] - '0');
		good = sum <= (UINT64_MAX - digit) / 10;
		sum = good ? sum * 10 + digit : 0;
	}
	if (!good || sum < least || sum > most)
		return wrong(t, at, "%s \"%.40s\": not a number from %llu to %llu", what, word,
		             (unsigned long long)least, (unsigned long long)most);
	*value = sum;
	return true;
}

/** How many directories there can be: depth levels of fanout each; up to a bound. */
static uint64_t room_for(uint32_t depth, uint32_t fanout)
{
	uint64_t level = 1, sum = 0;
	for (uint32_t i = 0; i < depth && sum <= TOPOLOGY_INODES; ++i) {
		level *= fanout;
		sum += level;
	}
	return sum;
}

static const struct verb {
	const char *name, *form;
	enum topology_verb verb;
	size_t least, most;      /* words behind it */
} verbs[] = {
	{"mount", "mount PATH", TOPOLOGY_MOUNT, 1, 1},
	{"dirs", "dirs PATH COUNT DEPTH FANOUT [FILES]", TOPOLOGY_DIRS, 4, 5},
	{"files", "files PATH COUNT", TOPOLOGY_FILES, 2, 2},
};

/** Take the words of a line. */
static bool take_words(struct topology *t, uint32_t number, char *words[], size_t n)
{
	struct topology_line line = {.number = number};
	const struct verb *verb = NULL;
	uint64_t value[WORDS] = {0};
	if (strcmp(words[0], "seed") == 0)
		return n == 2 ? number_of(t, number, "seed", words[1], 0, UINT64_MAX, &t->seed)
		              : wrong(t, number, "write it as: seed NUMBER");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs) && !verb; ++i)
		verb = strcmp(words[0], verbs[i].name) == 0 ? &verbs[i] : NULL;
	if (!verb)
		return wrong(t, number, "\"%.40s\": known are seed, mount, dirs, files", words[0]);
	if (n - 1 < verb->least || n - 1 > verb->most)
		return wrong(t, number, "write it as: %s", verb->form);
	line.verb = verb->verb;
	words[1][unescape_octal(words[1], words[1], strlen(words[1]))] = '\0';
	line.path = words[1];
	if (verb->verb == TOPOLOGY_MOUNT && is_root(line.path))
		return wrong(t, number, "the root is mounted already; name what is below it");
	if (verb->verb != TOPOLOGY_MOUNT && !number_of(t, number, "COUNT", words[2], 1, TOPOLOGY_INODES, &value[2]))
		return false;
	if (verb->verb == TOPOLOGY_DIRS
	    && (!number_of(t, number, "DEPTH", words[3], 1, TOPOLOGY_DEPTH, &value[3])
	        || !number_of(t, number, "FANOUT", words[4], 1, FANOUT_MAX, &value[4])
	        || (n > 5 && !number_of(t, number, "FILES", words[5], 0, TOPOLOGY_INODES, &value[5]))))
		return false;
	line.count = (uint32_t)value[2];
	line.depth = (uint32_t)value[3];
	line.fanout = (uint32_t)value[4];
	line.files = (uint32_t)value[5];
	if (line.verb == TOPOLOGY_DIRS && room_for(line.depth, line.fanout) < line.count)
		return wrong(t, number, "DEPTH %u and FANOUT %u have room for %llu directories", line.depth, line.fanout,
		             (unsigned long long)room_for(line.depth, line.fanout));
	return add(t, &line);
}

/** Cut a line into words, and take them. */
static bool take_line(struct topology *t, uint32_t number, char *line)
{
	char *words[WORDS + 1];
	size_t n = 0;
	line[strcspn(line, "#")] = '\0';
	for (char *at = line + strspn(line, " \t\r"); *at && n <= WORDS; at += strspn(at, " \t\r")) {
		words[n++] = at;
		at += strcspn(at, " \t\r");
		if (*at)
			*at++ = '\0';
	}
	return n == 0 || take_words(t, number, words, n);
}

static bool take_text(struct topology *t, char *text)
{
	uint32_t number = 0;
	for (char *line = text; line && !t->bad_line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		if (!take_line(t, ++number, line))
			return false;
		line = end;
	}
	return true;
}

/** What is made of the mount points of a host: some directories in each. */
static bool take_mounts(struct topology *t, const struct mount_table *table)
{
	enum { DIRS = 40, FILES = 3, ROOT_DIRS = 400, SHARE = TOPOLOGY_INODES / 2 };
	uint32_t dirs = (uint32_t)(SHARE / (FILES + 1) / (table->count + 1));
	char top[] = "/";
	struct topology_line root = {.verb = TOPOLOGY_DIRS, .number = 1, .path = top, .count = ROOT_DIRS, .depth = 4,
	                             .fanout = 8, .files = FILES};
	if (table->nproblems)
		return wrong(t, table->problems[0].line, "%s; it is taken for a mountinfo, since it begins with a digit",
		             table->problems[0].reason);
	if (!add(t, &root))
		return false;
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (!m->point || m->point[0] != '/' || is_root(m->point))
			continue;
		uint32_t number = m->line ? m->line : (uint32_t)i + 1;
		struct topology_line line = {.verb = TOPOLOGY_MOUNT, .number = number,
		                             .path = (char *)(uintptr_t)m->point};
		if (!add(t, &line))
			return false;
		line = (struct topology_line){.verb = TOPOLOGY_DIRS, .number = number, .path = line.path,
		                              .count = dirs > DIRS ? DIRS : dirs ? dirs : 1, .depth = 4, .fanout = 8,
		                              .files = FILES};
		if (!add(t, &line))
			return false;
	}
	return true;
}

struct topology *topology_parse(const char *text, size_t len)
{
	struct topology *t = calloc(1, sizeof(*t));
	struct mount_table *table = NULL;
	char *copy = NULL;
	bool good = false;
	if (!t)
		return NULL;
	t->seed = 1;
	const char *nul = memchr(text, '\0', len);
	if (nul) {
		wrong(t, 1, "a binary file: it has NUL bytes");
		return t;
	}
	errno = ENOMEM;
	if (len && *text >= '0' && *text <= '9') {
		table = table_parse_mountinfo(text, len);
		good = table && take_mounts(t, table);
	} else {
		copy = strndup(text, len);
		good = copy && take_text(t, copy);
	}
	free(copy);
	table_free(table);
	if (good && t->mounts == 0)
		wrong(t, 1, "not one mount in it; name some: mount PATH");
	if (good || t->bad_line)
		return t;
	topology_free(t);
	errno = ENOMEM;
	return NULL;
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; ++i)
		free(t->lines[i].path);
	free(t->lines);
	free(t);
}
