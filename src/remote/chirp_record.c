/* SPDX-License-Identifier: MIT */
/*
 * Parse lines in the answers of a Chirp server.
 *
 *     0:/path:65024 42 33188 1 0 0 0 6 4096 8 1795224943 1795224943 1795224943:     an object
 *     0:/path::                                                         without attributes
 *     2:1:/path:                                         an error: errno, SEARCH_ERR_*
 *
 * Colons and newlines in a path are not escaped.
 */
#include "remote/chirp_impl.h"

#include <ctype.h>
#include <errno.h>
#include <sys/sysmacros.h>

enum {
	NUMBERS = 13,
	STAT_TEXT = NUMBERS * 21,      /* maximum bytes of the attributes */
	DIGITS = 4,                    /* maximum digits of an errno or a status */
	ERRNO_MAX = 4095,
};

/** Count the digits at the start of a text, up to DIGITS + 1. */
static size_t digits(const char *text, size_t n)
{
	size_t i = 0;
	while (i < n && i <= DIGITS && isdigit((unsigned char)text[i]))
		++i;
	return i;
}

/** Get the length of the text before the path in a record: of "0:" or "13:1:".
    @return 0: not a record. */
static size_t head_of(const char *line, size_t n)
{
	size_t i = digits(line, n);
	if (i == 0 || i > DIGITS || n - i < 2 || line[i] != ':')
		return 0;
	if (i == 1 && *line == '0')
		return line[2] == '/' && n > 2 ? 2 : 0;
	bool source = line[i + 1] >= '0' + SEARCH_ERR_OPEN && line[i + 1] <= '0' + SEARCH_ERR_STAT;
	return n - i > 3 && source && line[i + 2] == ':' && line[i + 3] == '/' ? i + 3 : 0;
}

bool chirp_starts(const char *line, size_t n)
{
	return head_of(line, n) > 0;
}

/** Parse a number, and the blank after it.
    @last  The number is the last one, and must end the text.
    @return CHIRP_PART: not a number. */
static enum chirp_reading read_number(const char **at, const char *end, bool last, int64_t *value)
{
	const char *p = *at;
	bool negative = p < end && *p == '-', large = false;
	uint64_t number = 0;
	p += negative;
	const char *first = p;
	for (; p < end && isdigit((unsigned char)*p); ++p)
		large |= __builtin_mul_overflow(number, 10, &number)
		         || __builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
	if (p == first || (last ? p != end : p == end || *p != ' '))
		return CHIRP_PART;
	*at = p + !last;
	*value = (int64_t)(negative ? -number : number);
	return large || (negative && number > (uint64_t)INT64_MAX + 1) ? CHIRP_WRONG : CHIRP_WHOLE;
}

enum chirp_reading chirp_stat_read(const char *text, size_t n, struct k_statx *st)
{
	/* The members are dev ino mode nlink uid gid rdev size blksize blocks atime mtime ctime.
	   bits: maximum number of bits of each member; 64: signed or unsigned; 0: signed (a
	   time). */
	static const unsigned char bits[NUMBERS] = {64, 64, 16, 32, 32, 32, 64, 63, 32, 63};
	int64_t v[NUMBERS];
	const char *at = text, *end = text + n;
	bool wrong = false;
	for (int i = 0; i < NUMBERS; ++i) {
		bool negative = at < end && *at == '-';
		enum chirp_reading reading = read_number(&at, end, i == NUMBERS - 1, &v[i]);
		if (reading == CHIRP_PART)
			return CHIRP_PART;
		wrong |= reading == CHIRP_WRONG
		         || (bits[i] == 0 && v[i] < 0 && !negative)   /* a time that is too large
		                                                         for int64_t */
		         || (bits[i] > 0 && bits[i] < 64 && v[i] >> (bits[i] - 1) > 1)
		         || (bits[i] > 0 && bits[i] < 64 && v[i] < 0);
	}
	if (wrong)
		return CHIRP_WRONG;
	*st = (struct k_statx){
		.mask = K_STATX_BASIC,
		.dev_major = major((uint64_t)v[0]), .dev_minor = minor((uint64_t)v[0]),
		.ino = (uint64_t)v[1], .mode = (uint16_t)v[2], .nlink = (uint32_t)v[3],
		.uid = (uint32_t)v[4], .gid = (uint32_t)v[5],
		.rdev_major = major((uint64_t)v[6]), .rdev_minor = minor((uint64_t)v[6]),
		.size = (uint64_t)v[7], .blksize = (uint32_t)v[8], .blocks = (uint64_t)v[9],
		.atime.sec = v[10], .mtime.sec = v[11], .ctime.sec = v[12],
	};
	return CHIRP_WHOLE;
}

enum chirp_reading chirp_record_read(const char *text, size_t n, struct chirp_record *record)
{
	size_t head = head_of(text, n);
	*record = (struct chirp_record){.path = text + head};
	if (head == 2) {
		/* The attributes are between the last two colons. */
		if (text[n - 1] != ':')
			return CHIRP_PART;
		size_t most = n - head - 1 < STAT_TEXT ? n - head - 1 : STAT_TEXT;
		const char *end = text + n - 1, *colon = memrchr(end - most, ':', most);
		if (!colon)
			return CHIRP_PART;
		record->len = (size_t)(colon - record->path);
		record->has_st = colon + 1 < end;
		return record->has_st ? chirp_stat_read(colon + 1, (size_t)(end - colon - 1),
		                                        &record->st) : CHIRP_WHOLE;
	}
	if (text[n - 1] != ':')
		return CHIRP_PART;
	for (const char *p = text; *p != ':'; ++p)
		record->err = record->err * 10 + (*p - '0');
	record->source = text[head - 2] - '0';
	record->len = n - head - 1;
	return record->err >= 1 && record->err <= ERRNO_MAX ? CHIRP_WHOLE : CHIRP_WRONG;
}

int chirp_status_read(const char *text, size_t n)
{
	size_t sign = n > 0 && *text == '-', count = digits(text + sign, n - sign);
	int status = 0;
	if (count == 0 || count > DIGITS || sign + count != n)
		return 1;
	for (size_t i = sign; i < n; ++i)
		status = status * 10 - (text[i] - '0');
	return sign || status == 0 ? status : 1;
}

int chirp_errno(int status)
{
	/* Errno values for CHIRP_ERROR_* of chirp_protocol.h, from -1 on. */
	static const int errors[] = {
		EACCES, EACCES, ENOENT, EEXIST, EFBIG, ENOSPC, ENOMEM, EINVAL, EMFILE, EBUSY,
		EAGAIN, EBADF, EISDIR, ENOTDIR, ENOTEMPTY, EXDEV, ENETDOWN, ETIMEDOUT, ECONNRESET,
		EHOSTUNREACH, ESRCH, ESPIPE, EOPNOTSUPP, ENAMETOOLONG,
	};
	size_t i = (size_t)-status - 1;
	return i < sizeof(errors) / sizeof(*errors) ? errors[i] : EIO;
}
