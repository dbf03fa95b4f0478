/* SPDX-License-Identifier: MIT */
/*
 * Folding names of hosts.
 *
 *     name --> pattern "node\1.dc\1", numbers (7, 2)     each run of digits one \1
 *     names of one pattern --> items, a cell for each dimension: at first its number
 *     for each dimension, the last first: items that are alike in all other cells
 *         become one, whose cell there is the set of their numbers
 *
 * A cell is the number of a text, "7" or "[7-9]"; equal texts are equal sets, since the
 * text is made of the set alone.  Each item stands for the product of its cells, and items
 * have no name in common: so it is at the beginning, and joining such that are alike but
 * for one cell keeps it.
 */
#include "base/hostlist.h"

#include "base/intern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK '\1'    /* of a dimension; in no name */

/** A run of digits. */
struct number {
	uint64_t value;
	unsigned digits;
};

struct item {
	const char *name;
	const char *pattern;
	const struct number *numbers;   /* of the first of its names */
	uint32_t *cells;
	unsigned dims;
	size_t hosts;
	size_t place;            /* of its first name, in order */
};

struct folding {
	struct hostlist *list;
	struct arena arena;      /* what is needed for folding alone */
	struct item *items;
	struct number *numbers;  /* of a set */
	struct intern texts;     /* of cells */
	struct strbuf text;
	unsigned dim;            /* that is folded */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_plain(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("._-:", c));
}

static bool has_zeros(const struct number *number)
{
	uint64_t least = 1;
	for (unsigned i = 1; i < number->digits; ++i)
		least *= 10;
	return number->digits > 1 && number->value < least;
}

/** Read a name.  @return 0, or -1: ENOMEM. */
static int read_name(struct folding *f, const char *name, struct item *item)
{
	struct number numbers[HOSTLIST_DIMENSIONS];
	*item = (struct item){.name = name, .hosts = 1};
	strbuf_reset(&f->text);
	bool plain = *name;
	for (const char *c = name; *c; ++c)
		plain &= is_plain(*c);
	for (const char *c = name; *c;) {
		size_t n = plain ? strspn(c, "0123456789") : 0;
		if (n > 0 && n <= HOSTLIST_DIGITS && item->dims < HOSTLIST_DIMENSIONS) {
			numbers[item->dims++] = (struct number){strtoull(c, NULL, 10), (unsigned)n};
			strbuf_putc(&f->text, MARK);
		} else if (n > 0 || is_plain(*c)) {
			n = n ? n : 1;
			strbuf_add(&f->text, c, n);
		} else {
			n = 1;
			strbuf_printf(&f->text, "\\x%02x", (unsigned char)*c);
		}
		c += n;
	}
	item->pattern = arena_strndup(&f->arena, strbuf_str(&f->text), f->text.len);
	struct number *kept = arena_alloc(&f->arena, (item->dims + 1) * sizeof(*kept));
	item->cells = arena_alloc(&f->arena, (item->dims + 1) * sizeof(*item->cells));
	if (!item->pattern || !kept || !item->cells || f->text.failed)
		return -1;
	memcpy(kept, numbers, item->dims * sizeof(*kept));
	item->numbers = kept;
	return 0;
}

static int compare_number(const struct number *a, const struct number *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->digits > b->digits) - (a->digits < b->digits);
}

/** By pattern, then by numbers. */
static int compare_names(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = strcmp(a->pattern, b->pattern);
	for (unsigned d = 0; order == 0 && d < a->dims; ++d)
		order = compare_number(&a->numbers[d], &b->numbers[d]);
	return order;
}

/** By all cells but that of a dimension, then by their place. */
static int compare_others(const void *x, const void *y, void *arg)
{
	const struct item *a = x, *b = y;
	const struct folding *f = arg;
	for (unsigned d = 0; d < a->dims; ++d) {
		if (d != f->dim && a->cells[d] != b->cells[d])
			return a->cells[d] < b->cells[d] ? -1 : 1;
	}
	return a->place < b->place ? -1 : a->place > b->place;
}

static int compare_numbers(const void *x, const void *y)
{
	return compare_number(x, y);
}

static int compare_places(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void put_number(struct strbuf *out, const struct number *number)
{
	strbuf_printf(out, "%0*" PRIu64, (int)number->digits, number->value);
}

/** Append the ranges of one sort of numbers, which are in order.
    @digits  Those that have so many; 0: the others, which have no leading zeros. */
static void put_ranges(struct strbuf *out, const struct number *numbers, size_t n, unsigned digits, const bool *padded)
{
	const struct number *from = NULL, *last = NULL;
	for (size_t i = 0; i <= n; ++i) {
		const struct number *number = i < n ? &numbers[i] : NULL;
		if (number && (digits ? number->digits != digits : padded[number->digits]))
			continue;
		if (number && last && number->value == last->value + 1) {
			last = number;
			continue;
		}
		if (last) {
			if (out->len && out->data[out->len - 1] != '[')
				strbuf_putc(out, ',');
			put_number(out, from);
			if (last != from) {
				strbuf_putc(out, '-');
				put_number(out, last);
			}
		}
		from = last = number;
	}
}

/** Write a set of numbers.  Of so many digits as one with leading zeros has, all are one sort. */
static void put_set(struct strbuf *out, struct number *numbers, size_t n)
{
	bool padded[HOSTLIST_DIGITS + 1] = {false};
	qsort(numbers, n, sizeof(*numbers), compare_numbers);
	for (size_t i = 0; i < n; ++i)
		padded[numbers[i].digits] |= has_zeros(&numbers[i]);
	strbuf_putc(out, '[');
	put_ranges(out, numbers, n, 0, padded);
	for (unsigned digits = 2; digits <= HOSTLIST_DIGITS; ++digits) {
		if (padded[digits])
			put_ranges(out, numbers, n, digits, padded);
	}
	strbuf_putc(out, ']');
}

/** Join items of one pattern along a dimension.  @return how many are left; 0: ENOMEM. */
static size_t join(struct folding *f, struct item *items, size_t n)
{
	size_t left = 0;
	unsigned d = f->dim;
	qsort_r(items, n, sizeof(*items), compare_others, f);
	for (size_t i = 0, next; i < n; i = next) {
		struct item *whole = &items[left++];
		f->numbers[0] = items[i].numbers[d];
		size_t hosts = items[i].hosts;
		for (next = i + 1; next < n; ++next) {
			bool alike = true;
			for (unsigned k = 0; k < items[i].dims; ++k)
				alike &= k == d || items[i].cells[k] == items[next].cells[k];
			if (!alike)
				break;
			f->numbers[next - i] = items[next].numbers[d];
			hosts += items[next].hosts;
		}
		*whole = items[i];
		whole->hosts = hosts;
		if (next - i > 1) {
			strbuf_reset(&f->text);
			put_set(&f->text, f->numbers, next - i);
			if (f->text.failed || intern_put(&f->texts, strbuf_str(&f->text), f->text.len, &whole->cells[d]) != 0)
				return 0;
		}
	}
	return left;
}

/** Fold the names of one pattern.  @return how many items are left; 0: ENOMEM. */
static size_t fold_pattern(struct folding *f, struct item *items, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		for (unsigned d = 0; d < items[i].dims; ++d) {
			strbuf_reset(&f->text);
			put_number(&f->text, &items[i].numbers[d]);
			if (f->text.failed || intern_put(&f->texts, strbuf_str(&f->text), f->text.len, &items[i].cells[d]) != 0)
				return 0;
		}
	}
	for (unsigned d = items[0].dims; d-- > 0 && n > 0;) {
		f->dim = d;
		n = join(f, items, n);
	}
	return n;
}

/** Write an item as a term.  @return 0, or -1: ENOMEM. */
static int put_term(struct folding *f, const struct item *item)
{
	struct hostlist *list = f->list;
	unsigned d = 0;
	strbuf_reset(&f->text);
	for (const char *c = item->pattern; *c; ++c) {
		if (*c == MARK)
			strbuf_puts(&f->text, f->texts.of[item->cells[d++]]);
		else
			strbuf_putc(&f->text, *c);
	}
	const char *text = arena_strndup(&list->arena, strbuf_str(&f->text), f->text.len);
	if (!text || f->text.failed)
		return -1;
	list->terms[list->count++] = (struct hostlist_term){text, item->hosts};
	list->hosts += item->hosts;
	return 0;
}

static int fold(struct folding *f, const char *const *names, size_t n)
{
	size_t count = 0, left = 0;
	for (size_t i = 0; i < n; ++i) {
		if (read_name(f, names[i], &f->items[i]) != 0)
			return -1;
	}
	qsort(f->items, n, sizeof(*f->items), compare_names);
	for (size_t i = 0; i < n; ++i) {
		if (count == 0 || compare_names(&f->items[i], &f->items[count - 1]) != 0)
			f->items[count++] = f->items[i];
		f->items[count - 1].place = count - 1;
	}
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && strcmp(f->items[i].pattern, f->items[next].pattern) == 0;)
			++next;
		size_t stay = fold_pattern(f, &f->items[i], next - i);
		if (stay == 0)
			return -1;
		memmove(&f->items[left], &f->items[i], stay * sizeof(*f->items));
		left += stay;
	}
	qsort(f->items, left, sizeof(*f->items), compare_places);
	f->list->terms = arena_alloc(&f->list->arena, (left + 1) * sizeof(*f->list->terms));
	if (!f->list->terms)
		return -1;
	for (size_t i = 0; i < left; ++i) {
		if (put_term(f, &f->items[i]) != 0)
			return -1;
	}
	return 0;
}

int hostlist_fold(const char *const *names, size_t n, struct hostlist *list)
{
	struct folding f = {.list = list};
	*list = (struct hostlist){0};
	arena_init(&list->arena);
	arena_init(&f.arena);
	intern_init(&f.texts);
	strbuf_init(&f.text);
	f.items = calloc(n + 1, sizeof(*f.items));
	f.numbers = calloc(n + 1, sizeof(*f.numbers));
	int rc = f.items && f.numbers ? fold(&f, names, n) : -1;
	free(f.items);
	free(f.numbers);
	intern_destroy(&f.texts);
	strbuf_destroy(&f.text);
	arena_destroy(&f.arena);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}

void hostlist_destroy(struct hostlist *list)
{
	arena_destroy(&list->arena);
	*list = (struct hostlist){0};
}

void hostlist_put(const struct hostlist *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; ++i) {
		if (i > 0)
			strbuf_putc(out, ',');
		strbuf_puts(out, list->terms[i].text);
	}
}

/* Unfolding. */

struct unfolding {
	size_t left;             /* names that there may be still */
	int (*each)(void *arg, const char *name);
	void *arg;
	unsigned sets;           /* in whose brackets we are */
	struct strbuf name;
};

static int invalid(void)
{
	errno = EINVAL;
	return -1;
}

/** Read a number of a range.  @return the end of it, or NULL. */
static const char *read_number(const char *at, const char *end, struct number *number)
{
	*number = (struct number){0};
	while (at < end && is_digit(*at) && number->digits <= HOSTLIST_DIGITS) {
		number->value = number->value * 10 + (uint64_t)(*at++ - '0');
		++number->digits;
	}
	return number->digits > 0 && number->digits <= HOSTLIST_DIGITS ? at : NULL;
}

static void shorten(struct strbuf *name, size_t len)
{
	if (name->data) {
		name->len = len;
		name->data[len] = '\0';
	}
}

static int unfold_term(struct unfolding *u, const char *at, const char *end);

/** Unfold what begins with brackets. */
static int unfold_set(struct unfolding *u, const char *at, const char *end)
{
	size_t len = u->name.len;
	const char *close = memchr(at, ']', (size_t)(end - at));
	if (!close || u->sets == HOSTLIST_DIMENSIONS)
		return invalid();
	++u->sets;
	for (++at;; ++at) {
		struct number from, to;
		if (!(at = read_number(at, close, &from)))
			return invalid();
		to = from;
		if (at < close && *at == '-' && !(at = read_number(at + 1, close, &to)))
			return invalid();
		if (to.value < from.value || to.digits < from.digits || (at < close && *at != ','))
			return invalid();
		int width = has_zeros(&from) ? (int)from.digits : 0;
		for (uint64_t value = from.value; value <= to.value; ++value) {
			strbuf_printf(&u->name, "%0*" PRIu64, width, value);
			int rc = unfold_term(u, close + 1, end);
			shorten(&u->name, len);
			if (rc != 0)
				return rc;
		}
		if (at == close)
			break;
	}
	--u->sets;
	return 0;
}

static int hex_of(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Unfold what is left of a term, behind the name so far. */
static int unfold_term(struct unfolding *u, const char *at, const char *end)
{
	size_t len = u->name.len;
	int rc;
	for (; at < end && *at != '['; ++at) {
		if (*at == '\\' && end - at >= 4 && at[1] == 'x' && hex_of(at[2]) >= 0 && hex_of(at[3]) >= 0
		    && (at[2] != '0' || at[3] != '0')) {
			strbuf_putc(&u->name, (char)(16 * hex_of(at[2]) + hex_of(at[3])));
			at += 3;
		} else if (is_plain(*at)) {
			strbuf_putc(&u->name, *at);
		} else {
			return invalid();
		}
	}
	if (at < end) {
		rc = unfold_set(u, at, end);
	} else if (u->left == 0) {
		errno = E2BIG;
		rc = -1;
	} else {
		--u->left;
		rc = u->each(u->arg, strbuf_str(&u->name));
	}
	shorten(&u->name, len);
	return rc;
}

int hostlist_unfold(const char *text, size_t n, size_t max, int (*each)(void *arg, const char *name), void *arg)
{
	struct unfolding u = {.left = max, .each = each, .arg = arg};
	const char *end = text + n;
	int rc = 0;
	strbuf_init(&u.name);
	for (const char *at = text; rc == 0;) {
		const char *stop = at;
		for (bool inside = false; stop < end && (inside || *stop != ','); ++stop)
			inside = *stop == '[' || (inside && *stop != ']');
		shorten(&u.name, 0);
		rc = unfold_term(&u, at, stop);
		if (stop == end)
			break;
		at = stop + 1;
	}
	if (rc == 0 && u.name.failed) {
		errno = ENOMEM;
		rc = -1;
	}
	strbuf_destroy(&u.name);
	return rc;
}
