/* SPDX-License-Identifier: MIT */
/* Parse the arguments of tests: numbers, sizes, modes, types, patterns, owners, files. */
#include "select/query_impl.h"

#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const struct query_letter query_letters[] = {
	{'b', DT_BLK}, {'c', DT_CHR}, {'d', DT_DIR}, {'p', DT_FIFO}, {'f', DT_REG},
	{'l', DT_LNK}, {'s', DT_SOCK}, {0, 0},
};

/** Get the word for messages: of the primary that is being parsed, or the option of getmnt that was
    translated to it. */
static const char *word_of(const struct query_parser *p)
{
	return p->option ? p->option : p->words[p->primary];
}

static char *copy(struct query_parser *p, const char *text)
{
	return arena_strndup(&p->query->arena, text, strlen(text));
}

QUERY_PARSE(query_parse_plain)
{
	(void)args;
	return query_node(p, row);
}

QUERY_PARSE(query_parse_string)
{
	struct query_node *node = query_node(p, row);
	if (node)
		node->text = copy(p, args[0]);
	return node && node->text ? node : NULL;
}

/* Numbers */

/** Parse the sign of a number.  Another plus may follow the sign: strtoumax(3), and so GNU find,
    accepts it.
    @sign [out]  '+', '-', or 0.
    @return the text after the sign. */
static const char *parse_sign(const char *at, char *sign)
{
	*sign = *at == '+' || *at == '-' ? *at++ : 0;
	return at + (*sign && *at == '+');
}

static struct query_node *number_node(struct query_parser *p, const struct query_row *row,
                                      char sign, uint64_t n)
{
	struct query_node *node = query_node(p, row);
	if (node) {
		node->number.sign = sign;
		node->number.n = n;
		node->number.unit = 1;
	}
	return node;
}

QUERY_PARSE(query_parse_number)
{
	char sign;
	const char *at = parse_sign(args[0], &sign);
	uint64_t n;
	at = word_number(at, &n);
	if (!at || *at)
		return query_refuse(p, "invalid number \"%s\" for %s; it must be N, +N (more) or "
		                    "-N (less)", args[0], word_of(p));
	return number_node(p, row, sign, n);
}

QUERY_PARSE(query_parse_size)
{
	static const struct {
		char letter;
		uint32_t unit;
	} units[] = {
		{'b', 512}, {'c', 1}, {'w', 2}, {'k', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30},
	};
	char sign;
	const char *at = parse_sign(args[0], &sign);
	uint64_t n;
	at = word_number(at, &n);
	char letter = at && *at ? *at : 'b';
	for (size_t i = 0; at && (!*at || !at[1]) && i < sizeof(units) / sizeof(*units); ++i) {
		if (units[i].letter == letter) {
			struct query_node *node = number_node(p, row, sign, n);
			if (node) {
				node->number.letter = letter;
				node->number.unit = units[i].unit;
			}
			return node;
		}
	}
	return query_refuse(p, "invalid size \"%s\"; it must be a number, which may begin with + "
	                    "or - and end in one of: c (bytes), w (2 bytes), b (512 bytes), k, M, "
	                    "G", args[0]);
}

QUERY_PARSE(query_parse_dev)
{
	const char *at = args[0];
	uint64_t major, minor;
	at = word_number(at, &major);
	at = at && *at == ':' ? word_number(at + 1, &minor) : NULL;
	if (!at || *at || major > UINT32_MAX || minor > UINT32_MAX)
		return query_refuse(p, "invalid device \"%s\"; it must be MAJOR:MINOR", args[0]);
	struct query_node *node = query_node(p, row);
	if (node) {
		node->dev.major = (uint32_t)major;
		node->dev.minor = (uint32_t)minor;
	}
	return node;
}

QUERY_PARSE(query_parse_depth_limit)
{
	uint64_t n;
	const char *end = word_number(args[0], &n);
	if (!end || *end)
		return query_refuse(p, "invalid number \"%s\" for %s; it must be 0 or more, "
		                    "without a sign", args[0], word_of(p));
	unsigned limit = n < UINT_MAX ? (unsigned)n : UINT_MAX;
	*(row->param ? &p->query->info.mindepth : &p->query->info.maxdepth) = limit;
	return query_node(p, query_row_known(p, "true"));
}

/* Types */

QUERY_PARSE(query_parse_types)
{
	unsigned types = 0;
	for (const char *at = args[0];; ++at) {
		const struct query_letter *type = query_letters;
		while (type->letter && type->letter != *at)
			++type;
		if (!type->letter)
			return query_refuse(p, "invalid type \"%s\" for %s; it must be one of: f "
			                    "(file), d (directory), l (symlink), b, c (devices), "
			                    "p (pipe), s (socket); or several with \",\" between "
			                    "them", args[0], word_of(p));
		if (types & 1u << type->type)
			return query_refuse(p, "%s %s has \"%c\" twice; remove one", word_of(p),
			                    args[0], *at);
		types |= 1u << type->type;
		if (*++at == '\0')
			break;
		if (*at != ',')
			return query_refuse(p, "invalid types \"%s\" for %s; write \",\" between "
			                    "them", args[0], word_of(p));
	}
	struct query_node *node = query_node(p, row);
	if (node)
		node->types = types;
	return node;
}

/* Modes */

/** Get the mode bits for a permission letter.
    @who  The bits that "ugoa" select.
    @now  The mode so far.
    @dir  The file is a directory. */
static unsigned permission(char letter, unsigned who, unsigned now, bool dir)
{
	switch (letter) {
	case 'r': return 0444 & who;
	case 'w': return 0222 & who;
	case 'x': return 0111 & who;
	case 'X': return dir || now & 0111 ? 0111 & who : 0;
	case 's': return 06000 & who;
	case 't': return 01000 & who;
	default: return 0;
	}
}

/** Parse an octal mode.
    @return the text after it, or NULL: the mode is too large. */
static const char *apply_octal(const char *at, unsigned *mode)
{
	for (*mode = 0; *at >= '0' && *at <= '7'; ++at) {
		*mode = *mode * 8 + (unsigned)(*at - '0');
		if (*mode > 07777)
			return NULL;
	}
	return at;
}

/** Apply one clause of a symbolic mode to `mode`, as chmod(1) does with umask 0: "u+rwx", "go=",
    "+x=r".
    @return the text after the clause, or NULL: invalid. */
static const char *apply_clause(const char *at, bool dir, unsigned *mode)
{
	unsigned who = 0;
	for (; *at && strchr("ugoa", *at); ++at)
		who |= *at == 'u' ? 04700u : *at == 'g' ? 02070u : *at == 'o' ? 01007u : 07777u;
	bool plain = who == 0;
	who = plain ? 07777 : who;
	if (!*at || !strchr("+-=", *at))
		return NULL;
	while (at && *at && strchr("+-=", *at)) {
		char op = *at++;
		unsigned bits = 0;
		bool octal = plain && *at >= '0' && *at <= '7';
		if (octal) {
			/* octal modes as in "=644" and "+644" */
			at = apply_octal(at, &bits);
		} else if (*at && strchr("ugo", *at)) {
			unsigned shift = *at == 'u' ? 6 : *at == 'g' ? 3 : 0;
			bits = (*mode >> shift & 7) * 0111 & who;
			++at;
		} else {
			for (; *at && strchr("rwxXst", *at); ++at)
				bits |= permission(*at, who, *mode, dir);
		}
		/* As in chmod(1), "=" keeps the set-user-ID and set-group-ID bits of a directory
		   unless the clause mentions them. */
		unsigned kept = ~who | (dir && !octal ? 06000 & ~bits : 0);
		*mode = op == '+' ? *mode | bits : op == '-' ? *mode & ~bits
		                                             : (*mode & kept) | bits;
	}
	return at;
}

/** Parse an octal or symbolic mode.
    @bits [out]  The mode that chmod(1) would set on a file of mode 0.
    @return false: invalid. */
static bool parse_mode(const char *text, bool dir, uint16_t *bits)
{
	unsigned mode = 0;
	const char *at = text;
	if (*at >= '0' && *at <= '7') {
		at = apply_octal(at, &mode);
		*bits = (uint16_t)mode;
		return at && !*at;
	}
	for (;; ++at) {
		at = apply_clause(at, dir, &mode);
		if (!at || (*at && *at != ','))
			return false;
		if (!*at)
			break;
	}
	*bits = (uint16_t)mode;
	return true;
}

QUERY_PARSE(query_parse_perm)
{
	const char *at = args[0];
	char sign = *at == '-' || *at == '/' ? *at++ : 0;
	uint16_t bits[2];
	/* GNU find refuses +644, which had the meaning of /644 in old versions. */
	bool old = !sign && at[0] == '+' && at[1] >= '0' && at[1] <= '9';
	if (old || !parse_mode(at, false, &bits[0]) || !parse_mode(at, true, &bits[1]))
		return query_refuse(p, "invalid mode \"%s\" for %s; it must be octal (644) or "
		                    "symbolic (u=rw,go=r), after \"-\" for all of these bits or "
		                    "\"/\" for any of them%s", args[0], word_of(p),
		                    old ? "; \"+MODE\" is written \"/MODE\" today" : "");
	/* As in GNU find, "-perm /000" is true for all modes, like "-perm -000". */
	if (sign == '/' && bits[0] == 0 && bits[1] == 0)
		sign = '-';
	struct query_node *node = query_parse_string(p, row, args);
	if (node) {
		node->perm.sign = sign;
		memcpy(node->perm.bits, bits, sizeof(bits));
	}
	return node;
}

/* Patterns */

/** Warn if a pattern never matches. */
static void check_pattern(struct query_parser *p, const struct query_row *row, const char *text)
{
	size_t len = strlen(text);
	bool is_path = row->test == query_test_path;
	if (row->test == query_test_name && strchr(text, '/') && strcmp(text, "/") != 0)
		query_warn(p, "%s %s never matches, since names contain no \"/\"; for paths there "
		           "is -path", word_of(p), text);
	else if (is_path && len > 1 && text[len - 1] == '/')
		query_warn(p, "%s %s never matches, since paths do not end in \"/\"; remove it",
		           word_of(p), text);
}

QUERY_PARSE(query_parse_pattern)
{
	check_pattern(p, row, args[0]);
	struct query_node *node = query_parse_string(p, row, args);
	if (node)
		node->pattern = query_pattern_new(&p->query->arena, node->text, row->param == 'i');
	return node && node->pattern ? node : NULL;
}

QUERY_PARSE(query_parse_regex)
{
	struct query_node *node = query_parse_string(p, row, args);
	struct query_regex *regex = node ? arena_alloc(&p->query->arena, sizeof(*regex)) : NULL;
	if (!regex)
		return NULL;
	*regex = (struct query_regex){.next = p->query->regexes, .syntax = p->syntax};
	p->query->regexes = regex;
	node->regex = regex;
	errno = 0;
	const char *why = query_regex_compile(regex, node->text, row->param == 'i');
	if (!why)
		return node;
	if (errno == ENOMEM)
		return NULL;
	return query_refuse(p, "invalid regular expression \"%s\" for %s: %s; its syntax is %s, "
	                    "and -regextype before it changes that", args[0], word_of(p), why,
	                    query_syntax_name(regex->syntax));
}

QUERY_PARSE(query_parse_regextype)
{
	(void)row;
	const struct query_syntax *syntax = query_syntax(args[0]);
	if (!syntax) {
		struct strbuf names = {0};
		for (size_t i = 0; query_syntax_nth(i); ++i)
			strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", query_syntax_nth(i));
		query_refuse(p, "unknown syntax \"%s\" of regular expressions; it must be one of: "
		             "%s", args[0], strbuf_str(&names));
		strbuf_destroy(&names);
		return NULL;
	}
	p->syntax = syntax;
	return query_node(p, query_row_known(p, "true"));
}

/* Owners and files */

QUERY_PARSE(query_parse_owner)
{
	bool group = row->param;
	const char *name = args[0];
	const struct query_env *env = p->env;
	uint32_t id;
	errno = ENOSYS;
	int found = env->owner_id ? env->owner_id(env->arg, group, name, &id) : -1;
	uint64_t n;
	const char *end = word_number(name, &n);
	if (found != 1 && end && !*end && n <= UINT32_MAX) {
		id = (uint32_t)n;
		found = 1;
	}
	if (found == 0)
		return query_refuse(p, "unknown %s \"%s\" for %s; check the name, or give the "
		                    "number", group ? "group" : "user", name, word_of(p));
	if (found < 0)
		return query_refuse(p, "cannot look up the %s \"%s\" for %s: %s; give the number",
		                    group ? "group" : "user", name, word_of(p), strerror(errno));
	return number_node(p, query_row_known(p, group ? "gid" : "uid"), 0, id);
}

int query_file(struct query_parser *p, const char *path, struct k_statx *st)
{
	const struct query_env *env = p->env;
	if (!env->file) {
		query_refuse(p, "%s cannot be used here, because the file \"%s\" cannot be "
		             "looked up", word_of(p), path);
		return -1;
	}
	bool follow = p->query->follow_roots || p->query->info.follow;
	if (env->file(env->arg, path, follow, st) == 0)
		return 0;
	query_refuse(p, "the file \"%s\" of %s: %s; check the path", path, word_of(p),
	             strerror(errno));
	return -1;
}

QUERY_PARSE(query_parse_samefile)
{
	(void)row;
	struct k_statx st;
	if (query_file(p, args[0], &st) != 0)
		return NULL;
	struct query_node *list = query_list(p, OP_AND);
	struct query_node *inum = number_node(p, query_row_known(p, "inum"), 0, st.ino);
	struct query_node *dev = query_node(p, query_row_known(p, "dev"));
	if (!list || !inum || !dev)
		return NULL;
	dev->dev.major = st.dev_major;
	dev->dev.minor = st.dev_minor;
	query_add(list, inum);
	query_add(list, dev);
	p->query->info.samefile = true;
	return query_list_end(list);
}
