/* SPDX-License-Identifier: MIT */
/*
 * Values that the kernel, or the helper of a type, refuses: those that fs_parse(), or match_token()
 * before it, have refused in all versions since 5.0.  A plus sign before a number is accepted, as
 * in some versions.
 */
#include "mountopts/fsopts.h"

#include "base/words.h"
#include "mountopts/optlist.h"

#include <ctype.h>
#include <stdlib.h>

enum { VALUE_MAX = 64 };   /* longer values are not checked */

static const char *const value_names[] = {
	[OPT_NUMBER] = "a number", [OPT_WIDE] = "a number", [OPT_OCTAL] = "an octal number",
	[OPT_ID] = "a number or a name", [OPT_SIZE] = "a number, with k, m, g for a size",
	[OPT_PART] = "a number, with k, m, g for a size, or %", [OPT_COUNT] = "a number above 0",
	[OPT_POWER] = "a power of two", [OPT_BUFFERS] = "0, or 2 to 8",
	[OPT_LOG_SIZE] = "a power of two from 16k to 256k",
	[OPT_ALLOC_SIZE] = "a power of two from 4k to 1g",
	[OPT_BYTES] = "a number, with K, M, G for a size", [OPT_FLAG] = "no value",
};

/** Whether a list has a word equal to a value of n bytes.  @head  Or equal to its beginning. */
static bool in_list(const char *list, const char *word, size_t n, bool head)
{
	while (*list) {
		size_t m = strcspn(list, ", ");
		if ((m == n || (head && m < n)) && memcmp(list, word, m) == 0)
			return true;
		list += m;
		list += strspn(list, ", ");
	}
	return false;
}

/** Parse digits as the kernel does: optionally after 0x or 0, without a blank or sign. */
static uint64_t read_digits(const char *text, int base, const char **end)
{
	*end = text;
	if (!isdigit((unsigned char)*text))
		return 0;
	char *stop;
	uint64_t value = strtoull(text, &stop, base);
	*end = stop;
	return value;
}

/** Whether any of the kernel's parsers accepts a value as a number up to max: some accept 08. */
static bool is_number(const char *value, uint64_t max)
{
	const char *end;
	value += *value == '+';
	for (int base = 0; *value && base <= 10; base += 10) {
		if (read_digits(value, base, &end) <= max && !*end)
			return true;
	}
	return false;
}

static bool is_size(const char *value, bool part)
{
	const char *end;
	read_digits(value, 0, &end);
	end += *end && strchr("kKmMgGtTpPeE", *end);
	end += part && *end == '%';
	return !*end;
}

/** Whether a number, with a suffix, is a power of two within bounds. */
static bool is_power(const char *value, uint64_t min, uint64_t max)
{
	static const char units[] = "kKmMgG";
	const char *end, *unit;
	value += *value == '+';
	uint64_t number = read_digits(value, 0, &end);
	unit = *end ? strchr(units, *end) : NULL;
	if (end == value || (*end && (!unit || end[1])) || number > max)
		return false;
	if (unit)
		number <<= 10 * ((unit - units) / 2 + 1);
	return number >= min && number <= max && (number & (number - 1)) == 0;
}

/** Whether libmount accepts a value as a size. */
static bool is_bytes(const char *value)
{
	return isdigit((unsigned char)*value)
	       && !value[strspn(value, "0123456789abcdefABCDEFxXkKmMgGtTpPeEzZyYiB.")];
}

static bool accepts(const struct fsopt *row, char *value)
{
	size_t n = strlen(value);
	switch (row->value) {
	case OPT_ANY_VALUE:
		return true;
	case OPT_NUMBER:
		return is_number(value, UINT32_MAX);
	case OPT_WIDE:
		return is_number(value, UINT64_MAX);
	case OPT_ID:
		return (*value != '-' && !isdigit((unsigned char)*value))
		       || is_number(value, UINT32_MAX);
	case OPT_OCTAL:
		value += *value == '+';
		return !value[strspn(value, "01234567")];
	case OPT_SIZE:
	case OPT_PART:
		return is_size(value, row->value == OPT_PART);
	case OPT_COUNT:
		return is_number(value, UINT32_MAX) && value[strspn(value, "+0")];
	case OPT_POWER:
		return is_number(value, UINT32_MAX) && is_power(value, 0, UINT32_MAX);
	case OPT_BUFFERS:
		return is_number(value, 8) && is_number(value, 1) == is_number(value, 0);
	case OPT_LOG_SIZE:
		return strcmp(value, "0") == 0 || is_power(value, 16 << 10, 256 << 10);
	case OPT_ALLOC_SIZE:
		return is_power(value, 4 << 10, 1 << 30);
	case OPT_BYTES:
		return is_bytes(value);
	case OPT_FLAG:
		return false;
	case OPT_WORDS:
		for (size_t m; *value; value += m + (value[m] == ':')) {
			m = strcspn(value, ":");
			if (!in_list(row->words, value, m, false))
				return false;
		}
		return n > 0;
	case OPT_WORD:
	case OPT_HEAD:
		return in_list(row->words, value, n, row->value == OPT_HEAD);
	}
	return true;
}

const char *fsopt_check_value(const char *fstype, const char *option, size_t n)
{
	char value[VALUE_MAX + 1];
	size_t key = opt_name(option, n), len = n > key ? n - key - 1 : 0;
	const struct fsopt *row = fsopt_of_line(fstype, FSOPT_VALUED, option, key);
	const char *text = option + n - len;
	opt_unquote(&text, &len);
	if (!row || len > VALUE_MAX)
		return NULL;
	memcpy(value, text, len);
	value[len] = '\0';
	if (n == key ? row->bare || row->value == OPT_FLAG : accepts(row, value))
		return NULL;
	return row->words ? row->words : value_names[row->value];
}
