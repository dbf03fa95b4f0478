/* SPDX-License-Identifier: MIT */
#include "base/words.h"

#include <ctype.h>
#include <limits.h>

/** Whether two bytes are equal, ignoring case. */
static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

const char *word_number(const char *at, uint64_t *number)
{
	*number = 0;
	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; ++at) {
		if (__builtin_mul_overflow(*number, 10, number)
		    || __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return NULL;
	}
	return at;
}

unsigned near_distance(const char *a, size_t n, const char *b, size_t m, bool part)
{
	unsigned rows[3][NEAR_BYTES + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];
	for (size_t k = 0; k <= m; ++k)
		last[k] = (unsigned)k;
	unsigned best = last[m];
	for (size_t i = 1; i <= n; ++i) {
		now[0] = part ? 0 : (unsigned)i;
		for (size_t k = 1; k <= m; ++k) {
			unsigned more = last[k] < now[k - 1] ? last[k] + 1 : now[k - 1] + 1;
			now[k] = last[k - 1] + !is_same(a[i - 1], b[k - 1]);
			now[k] = more < now[k] ? more : now[k];
			bool swapped = i > 1 && k > 1 && is_same(a[i - 1], b[k - 2])
			               && is_same(a[i - 2], b[k - 1]);
			if (swapped && before[k - 2] + 1 < now[k])
				now[k] = before[k - 2] + 1;
		}
		unsigned *old = before;
		before = last;
		last = now;
		now = old;
		best = last[m] < best ? last[m] : best;
	}
	return part ? best : last[m];
}

void near_try(struct near *near, const char *name, const void *thing)
{
	enum { MOST = 2 };   /* more would confuse long names that begin alike, such as FSTAB-... */
	size_t n = strlen(name), third = (n > near->n ? n : near->n) / 3;
	unsigned edits = near->n > NEAR_BYTES ? UINT_MAX
	                 : near_distance(name, n, near->word, near->n, false);
	if (edits <= (third < MOST ? third : MOST) && (!near->best || edits < near->edits)) {
		near->edits = edits;
		near->best = thing;
	}
}
