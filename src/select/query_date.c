/* SPDX-License-Identifier: MIT */
/*
 * Parse dates of -newerXt, and durations.
 *
 * A date is a sequence of items with the same meaning as in GNU date(1) and find(1).  An item that
 * names a date or a time of day replaces the current date or time of day; without a time of day, a
 * date means 00:00.  Then relative items are added: first years, months and days, at last hours,
 * minutes and seconds.
 */
#include "select/query_impl.h"

#include "base/words.h"

#include <ctype.h>
#include <errno.h>

const char query_date_forms[] =
	"\"YYYY-MM-DD [HH:MM[:SS[.NNN]] [Z|+HH:MM]]\", \"@SECONDS\", \"now\", \"yesterday\", "
	"\"N days ago\", \"last week\" (units: second ... year), or a combination of these";

enum { NSEC = 1000000000, DAY = 86400, NUMBER_MAX = 1000000000 };

struct date {
	struct tm tm;
	long nsec;
	bool has_date, has_time, has_zone, has_day;
	long zone;                       /* seconds east of UTC */
	int weekday, weeks;              /* with has_day: weekday 0 (Sunday) to 6; weeks: 1 "next",
	                                    -1 "last", 0 "this" */
	int64_t years, months, days, seconds;   /* sums of relative items, to be added */
	int64_t *last, count;            /* sum that the last relative item changed, and by how
	                                    much: "ago" negates the item */
};

/* Names; their first three letters are sufficient. */
static const char *const months[] = {
	"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december", NULL,
};
static const char *const weekdays[] = {
	"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", NULL,
};

static const char zones[] = "Z z UTC utc GMT gmt";

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t,");
}

/** Parse a number of at most `most` digits.
    @return the text after the number, or NULL: no digits, too many digits, or the number is too
    large. */
static const char *parse_digits(const char *at, size_t most, long *n)
{
	size_t digits = strspn(at, "0123456789");
	if (digits == 0 || digits > most)
		return NULL;
	for (*n = 0; digits > 0; --digits) {
		if (__builtin_mul_overflow(*n, 10, n) || __builtin_add_overflow(*n, *at++ - '0', n))
			return NULL;
	}
	return at;
}

/** Parse a fraction of a second, with its decimal point or comma; digits after the ninth are
    dropped.
    @return the text after the fraction. */
static const char *parse_fraction(const char *at, long *nsec)
{
	if ((*at != '.' && *at != ',') || !isdigit((unsigned char)at[1]))
		return at;
	long scale = NSEC / 10;
	for (*nsec = 0, ++at; isdigit((unsigned char)*at); scale /= 10)
		*nsec += scale * (*at++ - '0');
	return at;
}

/** Get the number of letters at the start of a text. */
static size_t word_len(const char *at)
{
	size_t len = 0;
	while (isalpha((unsigned char)at[len]))
		++len;
	return len;
}

/** Parse a time zone: "Z", "UTC", "+HH", "+HHMM", "+HH:MM".
    @return the text after the zone, or NULL: not a zone. */
static const char *parse_zone(const char *at, struct date *date)
{
	long hours, minutes = 0;
	size_t letters = word_len(at);
	if (word_in(at, letters, zones)) {
		hours = 0;
		at += letters;
	} else {
		if (*at != '+' && *at != '-')
			return NULL;
		long sign = *at++ == '-' ? -1 : 1;
		size_t digits = strspn(at, "0123456789");
		at = parse_digits(at, 4, &hours);
		if (!at)
			return NULL;
		if (digits > 2) {
			minutes = hours % 100;
			hours /= 100;
		} else if (*at == ':' && !(at = parse_digits(at + 1, 2, &minutes))) {
			return NULL;
		}
		if (hours > 24 || minutes > 59)
			return NULL;
		hours *= sign;
		minutes *= sign;
	}
	date->has_zone = true;
	date->zone = hours * 3600 + minutes * 60;
	return at;
}

/** Parse "HH:MM[:SS[.N]] [ZONE]".
    @return the text after the time, or NULL: not a time, or a second one. */
static const char *parse_time(const char *at, struct date *date)
{
	long hour, minute, second = 0;
	if (date->has_time || !(at = parse_digits(at, 2, &hour)) || *at != ':'
	    || !(at = parse_digits(at + 1, 2, &minute)))
		return NULL;
	date->nsec = 0;
	if (*at == ':') {
		at = parse_digits(at + 1, 2, &second);
		if (!at)
			return NULL;
		at = parse_fraction(at, &date->nsec);
	}
	if (hour > 23 || minute > 59 || second > 59)
		return NULL;
	date->tm.tm_hour = (int)hour;
	date->tm.tm_min = (int)minute;
	date->tm.tm_sec = (int)second;
	date->has_time = true;
	const char *zone = skip_blanks(at);
	bool is_name = word_in(zone, word_len(zone), zones);
	return *zone == '+' || *zone == '-' || is_name ? parse_zone(zone, date) : at;
}

/** Store a date.
    @return false: a date was stored before, or the month or day is out of range. */
static bool set_date(struct date *date, long year, long month, long day)
{
	if (date->has_date || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	date->has_date = true;
	date->tm.tm_year = (int)(year - 1900);
	date->tm.tm_mon = (int)(month - 1);
	date->tm.tm_mday = (int)day;
	return true;
}

/** Parse "YYYY-MM-DD" or "YYYYMMDD", which "T" and a time may follow.
    @return the text after the item, or NULL: not a date, or a second one. */
static const char *parse_date(const char *at, struct date *date)
{
	long year, month, day;
	if (strspn(at, "0123456789") == 8) {
		at = parse_digits(at, 8, &year);
		/* For GNU date, eight digits before a word are a number of units. */
		if (*at != 'T' && word_len(skip_blanks(at)) > 0)
			return NULL;
		day = year % 100;
		month = year / 100 % 100;
		year /= 10000;
	} else if (strspn(at, "0123456789") != 4 || !(at = parse_digits(at, 4, &year))
	           || *at != '-' || !(at = parse_digits(at + 1, 2, &month))
	           || *at != '-' || !(at = parse_digits(at + 1, 2, &day))) {
		return NULL;
	}
	if (!set_date(date, year, month, day))
		return NULL;
	return (*at == 'T' || *at == 't') && isdigit((unsigned char)at[1])
	       ? parse_time(at + 1, date) : at;
}

/** Whether a word of len bytes is a name, or its first three letters, ignoring case. */
static bool is_name(const char *at, size_t len, const char *name)
{
	return (len == strlen(name) || len == 3) && strncasecmp(at, name, len) == 0;
}

static int find_name(const char *at, size_t len, const char *const *names)
{
	for (int i = 0; names[i]; ++i) {
		if (is_name(at, len, names[i]))
			return i;
	}
	return -1;
}

/** Add n units to the sums of a date.
    @at  The name of the unit, len bytes.
    @return false: the word is not a unit. */
static bool add_unit(const char *at, size_t len, long n, struct date *date)
{
	const struct {
		const char *words;
		int64_t *to, times;
	} units[] = {
		{"second seconds sec secs", &date->seconds, 1},
		{"minute minutes min mins", &date->seconds, 60},
		{"hour hours", &date->seconds, 3600},
		{"day days", &date->days, 1},
		{"week weeks", &date->days, 7},
		{"fortnight fortnights", &date->days, 14},
		{"month months", &date->months, 1},
		{"year years", &date->years, 1},
	};
	char lower[16] = "";
	for (size_t i = 0; i < len && i < sizeof(lower); ++i)
		lower[i] = (char)tolower((unsigned char)at[i]);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); ++i) {
		if (len <= sizeof(lower) && word_in(lower, len, units[i].words)) {
			date->last = units[i].to;
			date->count = n * units[i].times;
			*date->last += date->count;
			return true;
		}
	}
	return false;
}

/** Parse "N UNIT", or "N MONTH [YEAR]".
    @return the text after the item, or NULL: neither form. */
static const char *parse_amount(const char *at, struct date *date)
{
	long sign = *at == '-' ? -1 : 1, n, year = date->tm.tm_year + 1900;
	bool is_signed = *at == '+' || *at == '-';
	at = parse_digits(at + is_signed, 9, &n);
	if (!at)
		return NULL;
	at = skip_blanks(at);
	size_t len = word_len(at);
	if (add_unit(at, len, sign * n, date))
		return at + len;
	int month = len > 0 && !is_signed ? find_name(at, len, months) : -1;
	if (month < 0)
		return NULL;
	at += len;
	const char *next = skip_blanks(at);
	size_t digits = strspn(next, "0123456789");
	if (digits == 4)
		at = parse_digits(next, 4, &year);
	else if (*next == '+' || *next == '-' || (digits > 0 && next[digits] != ':'))
		return NULL;   /* GNU date reads this number as the year */
	return set_date(date, year, month + 1, n) ? at : NULL;
}

/** Parse a word: "yesterday", "last week", "ago", "Mon".
    @return the text after the item, or NULL: unknown word. */
static const char *parse_word(const char *at, struct date *date)
{
	size_t len = word_len(at);
	const char *end = at + len;
	if (len == 0)
		return NULL;
	if (strncasecmp(at, "now", len) == 0 && len == 3)
		return end;
	if (strncasecmp(at, "today", len) == 0 && len == 5)
		return end;
	bool back = strncasecmp(at, "yesterday", len) == 0 && len == 9;
	if (back || (strncasecmp(at, "tomorrow", len) == 0 && len == 8)) {
		date->days += back ? -1 : 1;
		return end;
	}
	if (strncasecmp(at, "ago", len) == 0 && len == 3) {
		if (!date->last)
			return NULL;
		*date->last -= 2 * date->count;
		date->last = NULL;
		return end;
	}
	long n = 1;
	bool counts = len == 4;
	if (counts && strncasecmp(at, "last", len) == 0)
		n = -1;
	else if (counts && strncasecmp(at, "this", len) == 0)
		n = 0;
	else
		counts = counts && strncasecmp(at, "next", len) == 0;
	if (counts) {
		at = skip_blanks(end);
		len = word_len(at);
		end = at + len;
	}
	if (add_unit(at, len, n, date))
		return end;
	int day = len > 0 ? find_name(at, len, weekdays) : -1;
	if (day < 0 || date->has_day)
		return NULL;
	date->has_day = true;
	date->weekday = day;
	date->weeks = counts ? (int)n : 0;
	return end + (*end == '.');
}

/** Convert a broken-down time to seconds since the Epoch.
    @return false: the time cannot be represented. */
static bool convert(const struct date *date, struct tm *tm, int64_t *sec)
{
	tm->tm_wday = -1;
	*sec = date->has_zone ? timegm(tm) : mktime(tm);
	return tm->tm_wday >= 0;
}

/** Apply the weekday and the relative items to the date and time.
    @return false: the date does not exist, or is out of range. */
static bool complete(struct date *date, struct timespec *result)
{
	struct tm *tm = &date->tm;
	if (date->has_date || date->has_day || date->has_time) {
		tm->tm_isdst = -1;
		if (!date->has_time) {
			tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
			date->nsec = 0;
		}
	}
	struct tm given = *tm;
	int64_t sec;
	/* mktime() changes dates that do not exist, such as February 30, and times that the change
	   to daylight saving time skips. */
	if (!convert(date, tm, &sec) || tm->tm_mday != given.tm_mday || tm->tm_mon != given.tm_mon
	    || tm->tm_hour != given.tm_hour || tm->tm_min != given.tm_min)
		return false;
	if (date->has_day && !date->has_date) {
		/* The day of the month may be out of range; convert() normalizes the date. */
		given.tm_mday += (date->weekday - tm->tm_wday + 7) % 7
		                 + 7 * (date->weeks - (date->weeks > 0
		                                       && tm->tm_wday != date->weekday));
		if (!convert(date, &given, &sec))
			return false;
		given.tm_isdst = -1;
	}
	/* Larger sums would exceed the range of the members of struct tm. */
	if (date->years > NUMBER_MAX || date->years < -NUMBER_MAX || date->months > NUMBER_MAX
	    || date->months < -NUMBER_MAX || date->days > NUMBER_MAX || date->days < -NUMBER_MAX)
		return false;
	given.tm_year += (int)date->years;
	given.tm_mon += (int)date->months;
	given.tm_mday += (int)date->days;
	if (!convert(date, &given, &sec))
		return false;
	sec += date->seconds - (date->has_zone ? date->zone : 0);
	*result = (struct timespec){.tv_sec = sec, .tv_nsec = date->nsec};
	return true;
}

/** Parse "@SECONDS[.N]", in seconds since the Epoch.
    @return false: the text is not of this form. */
static bool parse_seconds(const char *at, struct timespec *result)
{
	bool negative = *++at == '-';
	long sec, nsec = 0;
	at = parse_digits(at + negative, 19, &sec);
	if (!at || *(at = parse_fraction(at, &nsec)))
		return false;
	if (negative) {
		sec = -sec - (nsec > 0);
		nsec = nsec > 0 ? NSEC - nsec : 0;
	}
	*result = (struct timespec){.tv_sec = sec, .tv_nsec = nsec};
	return true;
}

bool query_date(const char *text, const struct timespec *now, struct timespec *result)
{
	struct date date = {.nsec = now->tv_nsec};
	text = skip_blanks(text);
	if (*text == '@')
		return parse_seconds(text, result);
	if (!*text || !localtime_r(&now->tv_sec, &date.tm))
		return false;
	for (; *text; text = skip_blanks(text)) {
		const char *(*const parsers[])(const char *at, struct date *date) = {
			parse_amount, parse_date, parse_time, parse_word,
		};
		const char *end = NULL;
		for (size_t i = 0; !end && i < sizeof(parsers) / sizeof(*parsers); ++i)
			end = parsers[i](text, &date);
		/* Blanks must separate items that end and begin with a letter or digit. */
		if (!end || (isalnum((unsigned char)*end) && isalnum((unsigned char)end[-1])))
			return false;
		text = end;
	}
	return complete(&date, result);
}

int query_duration(const char *text, struct timespec *duration)
{
	static const struct {
		const char *words;
		double seconds;
	} units[] = {
		{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s sec secs second seconds", 1},
		{"m min mins minute minutes", 60}, {"h hr hrs hour hours", 3600},
		{"d day days", DAY}, {"w week weeks", 7 * DAY}, {"M month months", 30.44 * DAY},
		{"y year years", 365.25 * DAY},
	};
	enum { UNITS = sizeof(units) / sizeof(*units) };
	double seconds = 0;
	text = skip_blanks(text);
	do {
		long n, nsec = 0;
		text = parse_digits(text, 9, &n);
		if (!text)
			return -1;
		text = skip_blanks(parse_fraction(text, &nsec));
		size_t len = word_len(text), i = 0;
		while (i < UNITS && !word_in(text, len, units[i].words))
			++i;
		if (len == 0 || i == UNITS)
			return -1;
		seconds += ((double)n + (double)nsec / NSEC) * units[i].seconds;
		text = skip_blanks(text + len);
	} while (*text);
	duration->tv_sec = (time_t)seconds;
	duration->tv_nsec = (long)((seconds - (double)duration->tv_sec) * NSEC);
	return 0;
}
