/* SPDX-License-Identifier: MIT */
/* Dates of -newerXt. */
#include "search/query_impl.h"

#include <stdlib.h>

const char query_date_forms[] = "@SECONDS";

bool query_date(const char *text, const struct timespec *now, struct timespec *date)
{
	(void)now;
	if (*text++ != '@')
		return false;
	bool negative = *text == '-';
	text += negative;
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 18)
		return false;
	int64_t sec = 0;
	for (; digits > 0; --digits)
		sec = sec * 10 + (*text++ - '0');
	long nsec = 0;
	if (*text == '.') {
		digits = strspn(++text, "0123456789");
		if (digits == 0)
			return false;
		long scale = 100000000;
		for (; digits > 0; --digits, scale /= 10)
			nsec += scale * (*text++ - '0');
	}
	if (*text)
		return false;
	if (negative) {
		sec = -sec - (nsec > 0);
		nsec = nsec > 0 ? 1000000000 - nsec : 0;
	}
	*date = (struct timespec){.tv_sec = sec, .tv_nsec = nsec};
	return true;
}
