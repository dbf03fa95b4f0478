/* SPDX-License-Identifier: MIT */
/*
 * Parse tests of times.  They become tests whether a time of an object is later than an instant.
 * Ages are in these ranges, as in GNU find:
 *
 *   -mmin N     age in [N-1, N) minutes         -mtime N    age in [N, N+1) days
 *   -mmin +N    age > N minutes                 -mtime +N   age > N+1 days
 *   -mmin -N    age < N minutes                 -mtime -N   age < N days and a second
 *
 * Ages are measured from the start of the search, with -daystart from the end of the current day.
 */
#include "select/query_impl.h"

#include <math.h>
#include <stdlib.h>

enum { NSEC = 1000000000 };

/* Maximum number of seconds that is computed with; no time in a file system is greater. */
static const double SEC_MAX = (double)(INT64_C(1) << 60);

/** Parse a number of days or minutes: a sign ('+', '-', or 0 for none), then a decimal number,
    which may have a sign of its own.
    @return false: the text is not a number. */
static bool parse_amount(const char *text, char *sign, double *amount)
{
	*sign = 0;
	if (*text == '+' || *text == '-')
		*sign = *text++;
	bool negative = *sign && *text == '-';
	text += *sign && (*text == '+' || *text == '-');
	*amount = 0;
	size_t digits = strspn(text, "0123456789");
	for (size_t i = 0; i < digits; ++i)
		*amount = *amount * 10 + (text[i] - '0');
	text += digits;
	if (*text == '.') {
		size_t fraction = strspn(++text, "0123456789");
		double scale = 1;
		digits += fraction;
		/* 15 digits are the precision of a double. */
		for (size_t i = 0; i < fraction && i < 15; ++i) {
			*amount = *amount * 10 + (text[i] - '0');
			scale *= 10;
		}
		*amount /= scale;
		text += fraction;
	}
	*amount = negative ? -*amount : *amount;
	return digits > 0 && !*text;
}

/** Get the time that is a number of seconds earlier than `time`, or later if `seconds` is negative.
    Times out of range become the earliest or the latest possible time. */
static struct timespec earlier(struct timespec time, double seconds)
{
	if (seconds > SEC_MAX || seconds < -SEC_MAX)
		return (struct timespec){.tv_sec = (time_t)(seconds < 0 ? SEC_MAX : -SEC_MAX)};
	double whole, nsec = modf(seconds, &whole) * NSEC;
	time.tv_sec -= (time_t)whole;
	time.tv_nsec -= (long)nsec;
	if (time.tv_nsec < 0 || time.tv_nsec >= NSEC) {
		int carry = time.tv_nsec < 0 ? -1 : 1;
		time.tv_nsec -= carry * (long)NSEC;
		time.tv_sec += carry;
	}
	return time;
}

/** Make a test whether a time of the object is later than `time`.
    @field  Which time: 'a', 'B', 'c' or 'm'. */
static struct query_node *newer_node(struct query_parser *p, char field, struct timespec time)
{
	struct query_node *node = query_node(p, query_row_known(p, "newer"));
	if (!node)
		return NULL;
	node->time.field = field;
	/* query_print() prints sec without its sign, which for INT64_MIN is too large for
	   query_date(). */
	node->time.sec = time.tv_sec > INT64_MIN ? time.tv_sec : -INT64_MAX;
	node->time.nsec = (uint32_t)time.tv_nsec;
	p->query->info.mask |= field == 'a' ? K_STATX_ATIME : field == 'c' ? K_STATX_CTIME
	                       : field == 'm' ? K_STATX_MTIME : K_STATX_BTIME;
	return node;
}

/** Make a test whether a time of the object is not later than `time`, as -older does. */
static struct query_node *older_node(struct query_parser *p, char field, struct timespec time)
{
	struct query_node *node = newer_node(p, field, time);
	if (node)
		node->time.negated = true;
	return query_not(p, node);
}

/** Make a test of an age.
    @sign  '+', '-', or 0, of the number.
    @time  The instant at which an object of that age was changed.
    @window  The length of the unit, in seconds; used if sign is 0. */
static struct query_node *age_node(struct query_parser *p, char field, char sign,
                                   struct timespec time, time_t window)
{
	if (sign == '-')
		return newer_node(p, field, time);
	if (sign == '+') {
		/* "Earlier than T" is "not later than T minus 1 ns". */
		if (--time.tv_nsec < 0) {
			time.tv_nsec += NSEC;
			--time.tv_sec;
		}
		return older_node(p, field, time);
	}
	struct query_node *list = query_list(p, OP_AND), *from = newer_node(p, field, time);
	time.tv_sec += window;
	struct query_node *to = older_node(p, field, time);
	if (!list || !from || !to)
		return NULL;
	query_add(list, from);
	query_add(list, to);
	return query_list_end(list);
}

static struct query_node *refuse_amount(struct query_parser *p, const char *text)
{
	return query_refuse(p, "invalid number \"%s\" for %s; it must be N, +N (more than N) "
	                    "or -N (less)", text, p->words[p->primary]);
}

QUERY_PARSE(query_parse_days)
{
	char sign;
	double days;
	if (!parse_amount(args[0], &sign, &days))
		return refuse_amount(p, args[0]);
	struct timespec from = p->day;
	/* "-mtime -N" means an age of less than N days and a second, as in GNU find. */
	from.tv_sec += sign == '-' ? 86400 - 1 : 0;
	return age_node(p, (char)row->param, sign, earlier(from, days * 86400), 86400);
}

QUERY_PARSE(query_parse_minutes)
{
	char sign;
	double minutes;
	if (!parse_amount(args[0], &sign, &minutes))
		return refuse_amount(p, args[0]);
	struct timespec from = p->day;
	from.tv_sec += 86400;
	return age_node(p, (char)row->param, sign, earlier(from, minutes * 60), 60);
}

QUERY_PARSE(query_parse_used)
{
	char sign;
	double days;
	if (!parse_amount(args[0], &sign, &days))
		return refuse_amount(p, args[0]);
	struct query_node *node = query_parse_string(p, row, args);
	if (node) {
		node->text += sign != 0;
		node->used.sign = sign;
		node->used.days = days;
	}
	return node;
}

QUERY_PARSE(query_parse_newer)
{
	const char *word = p->words[p->primary];
	char field = (char)row->param, of = 'm';
	struct query_node *(*make)(struct query_parser *, char, struct timespec) =
		word[1] == 'o' ? older_node : newer_node;
	if (strlen(word) == strlen("-newerXY") && row->param == 'm') {
		field = word[6];
		of = word[7];
	}
	if (!strchr("aBcm", field) || !strchr("aBcmt", of))
		return query_refuse(p, "unknown primary \"%s\"; of %.6sXY, X must be one of a, "
		                    "B, c, m, and Y one of a, B, c, m, t", word, word);
	struct timespec date;
	if (of == 't') {
		if (query_date(args[0], &p->env->now, &date))
			return make(p, field, date);
		return query_refuse(p, "invalid date \"%s\" for %s; it must be %s", args[0], word,
		                    query_date_forms);
	}
	struct k_statx st;
	if (query_file(p, args[0], &st) != 0)
		return NULL;
	if (of == 'B' && !(st.mask & K_STATX_BTIME))
		return query_refuse(p, "the file \"%s\" of %s has no time of birth, because its "
		                    "file system keeps none; use %.6s%cm", args[0], word, word,
		                    field);
	const struct k_statx_time *time = of == 'a' ? &st.atime : of == 'B' ? &st.btime
	                                  : of == 'c' ? &st.ctime : &st.mtime;
	date = (struct timespec){.tv_sec = time->sec, .tv_nsec = time->nsec};
	return make(p, field, date);
}
