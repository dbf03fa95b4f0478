/* SPDX-License-Identifier: MIT */
/*
 * Tests of times: all become tests whether a time is later than an instant, with GNU find's
 * windows.
 *
 *   -mmin N     age in [N-1, N) minutes         -mtime N    age in [N, N+1) days
 *   -mmin +N    age > N minutes                 -mtime +N   age > N+1 days
 *   -mmin -N    age < N minutes                 -mtime -N   age < N days and a second
 *
 * With -daystart ages count from the end of the day.
 */
#include "select/query_impl.h"

#include <math.h>
#include <stdlib.h>

enum { NSEC = 1000000000 };

/* Seconds beyond this cannot occur in a file system. */
static const double SEC_MAX = (double)(INT64_C(1) << 60);

/** Parse a number of days or minutes: a sign, and a decimal number, which may have another sign.
    @return false: it is none. */
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
		/* Further digits would only be rounded. */
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

/** A time before another one, or after it if seconds is negative.  Times out of range become the
    earliest or the latest. */
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

/** A test whether a time of the object is later. */
static struct query_node *newer_node(struct query_parser *p, char field, struct timespec time)
{
	struct query_node *node = query_node(p, query_row_known(p, "newer"));
	if (!node)
		return NULL;
	node->time.field = field;
	/* The least number has no positive one to print. */
	node->time.sec = time.tv_sec > INT64_MIN ? time.tv_sec : -INT64_MAX;
	node->time.nsec = (uint32_t)time.tv_nsec;
	p->query->info.mask |= field == 'a' ? K_STATX_ATIME : field == 'c' ? K_STATX_CTIME
	                       : field == 'm' ? K_STATX_MTIME : K_STATX_BTIME;
	return node;
}

/** A test whether a time of the object is not later, for ages: -older. */
static struct query_node *older_node(struct query_parser *p, char field, struct timespec time)
{
	struct query_node *node = newer_node(p, field, time);
	if (node)
		node->time.negated = true;
	return query_not(p, node);
}

/** Compare ages.
    @time  The instant of that age.
    @window  The length of the unit, in seconds, for a sign of 0. */
static struct query_node *age_node(struct query_parser *p, char field, char sign,
                                   struct timespec time, time_t window)
{
	if (sign == '-')
		return newer_node(p, field, time);
	if (sign == '+') {
		/* Earlier is: not later than a nanosecond before. */
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
	/* -1 is the last day and this second. */
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
