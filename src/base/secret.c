/* SPDX-License-Identifier: MIT */
#include "base/secret.h"

#include "base/escape.h"
#include "base/words.h"

#include <ctype.h>
#include <strings.h>

static bool ends_in(const char *name, size_t n, const char *word)
{
	size_t len = strlen(word);
	return n >= len && strncasecmp(name + n - len, word, len) == 0;
}

/** The set of letters in a name, one bit each. */
static uint32_t letters_of(const char *name, size_t n)
{
	uint32_t letters = 0;
	for (size_t i = 0; i < n; ++i) {
		if (isalpha((unsigned char)name[i]))
			letters |= UINT32_C(1) << (tolower((unsigned char)name[i]) - 'a');
	}
	return letters;
}

/** The part of a name after the last '-', '_' or '.'. */
static const char *last_word(const char *name, size_t n)
{
	const char *at = name + n;
	while (at > name && !strchr("-_.", at[-1]))
		--at;
	return at;
}

/** Whether an option with this name has a secret value. */
static bool is_secret_name(const char *name, size_t n)
{
	/* What to compare with a word, allowing some edits of near_distance(). */
	enum { WHOLE, LAST_WORD, END, PART };
	static const struct {
		const char *word;
		unsigned what, changes;
	} rows[] = {
		{"cred", WHOLE, 0}, {"creds", WHOLE, 0}, {"key", WHOLE, 0}, {"apikey", WHOLE, 0},
		{"auth", WHOLE, 0}, {"pasw", LAST_WORD, 0}, {"pswd", LAST_WORD, 0},
		{"psw", LAST_WORD, 0}, {"pword", LAST_WORD, 0}, {"pw", LAST_WORD, 0},
		{"pwd", LAST_WORD, 0}, {"token", LAST_WORD, 1}, {"pass", END, 0},
		{"passw", PART, 0}, {"passkey", PART, 0}, {"token", PART, 0},
		{"password", PART, 2}, {"passwd", PART, 1}, {"passphrase", PART, 2},
		{"credential", PART, 2}, {"secret", PART, 1},
	};
	enum { ROWS = sizeof(rows) / sizeof(*rows) };
	/* letters_of() each word; 0: not computed yet in this thread. */
	static _Thread_local uint32_t letters_of_row[ROWS];
	/* Similar names whose values are not secret (crypttab(5), file names). */
	static const char none[] = "token-timeout password-echo secretfile passfd bypass compass";
	/* Options of ssh_config(5) with such names, which sshfs accepts in upper or lower case. */
	static const char *const ssh[] = {"PasswordAuthentication", "NumberOfPasswordPrompts"};

	for (; n > 0 && strchr("\"' \t", *name); --n)
		++name;
	for (size_t i = 0; i < sizeof(ssh) / sizeof(*ssh); ++i) {
		if (n == strlen(ssh[i]) && strncasecmp(name, ssh[i], n) == 0)
			return false;
	}
	while (n > 0 && (strchr(" \t", name[n - 1]) || isdigit((unsigned char)name[n - 1])))
		--n;
	if (n > NEAR_BYTES) {
		name += n - NEAR_BYTES;
		n = NEAR_BYTES;
	}
	if (word_in(name, n, none))
		return false;
	const char *last = last_word(name, n);
	uint32_t letters = letters_of(name, n);
	for (size_t i = 0; i < ROWS; ++i) {
		const char *word = rows[i].word, *from = rows[i].what == LAST_WORD ? last : name;
		size_t len = strlen(word), nfrom = (size_t)(name + n - from);
		if (rows[i].what == END && n > len) {
			from = name + n - len;
			nfrom = len;
		}
		bool part = rows[i].what == PART;
		size_t most = rows[i].changes;
		/* Each edit adds at most one letter: most names need no comparison. */
		if (!letters_of_row[i])
			letters_of_row[i] = letters_of(word, len);
		if (nfrom + most >= len && (part || nfrom <= len + most)
		    && (size_t)__builtin_popcount(letters_of_row[i] & ~letters) <= most
		    && near_distance(from, nfrom, word, len, part) <= most)
			return true;
	}
	return false;
}

/** Whether a value is the path of a file that holds a secret: "credentials=/root/smb". */
static bool is_secret_file(const char *name, size_t n, const char *value, size_t nvalue)
{
	bool file = ends_in(name, n, "file");
	for (size_t i = 4; i <= n && !file; ++i)
		file = ends_in(name, i, "cred");
	return file && nvalue > 1 && *value == '/' && !memchr(value, '=', nvalue);
}

/** Whether an option with this name has a user as value, possibly followed by a password. */
static bool is_user_name(const char *name, size_t n)
{
	const char *last = last_word(name, n);
	size_t nlast = (size_t)(name + n - last);
	return (nlast == 4 && ends_in(name, n, "user")) || (nlast == 3 && ends_in(name, n, "usr"))
	       || (nlast > 5 && nlast < 12
	           && __builtin_popcount(letters_of("username", 8) & ~letters_of(last, nlast)) <= 1
	           && near_distance(last, nlast, "username", 8, false) <= 1);
}

/** The start of the secret in the userinfo of a URL, or NULL.
    @scheme  The "://" of the URL. */
static const char *secret_of_url(const char *scheme, const char *end)
{
	const char *authority = scheme + 3;
	const char *slash = memchr(authority, '/', (size_t)(end - authority));
	size_t len = (size_t)((slash ? slash : end) - authority);
	const char *at = memrchr(authority, '@', len);
	const char *colon = at ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
	if (!at || (colon && colon + 1 == at))
		return NULL;
	/* If an '@' precedes the colon, mask everything up to the last '@'. */
	bool name = colon && !memchr(authority, '@', (size_t)(colon - authority));
	return name ? colon + 1 : authority;
}

/** Whether the ssh_command of sshfs contains a password: "sshpass -pWORD" does.  "sshpass -f FILE"
    and "sshpass -e" do not: sshpass refuses -p after -f or -e.  A blank may be written as \040. */
static bool has_password(const char *command, size_t n)
{
	const char *end = command + n, *at = memmem(command, n, "pass", 4);
	if (!at || at - command < 3 || memcmp(at - 3, "ssh", 3) != 0)
		return at;
	for (at += 4; at < end && (*at == ' ' || (end - at > 4 && memcmp(at, "\\040", 4) == 0));)
		at += *at == ' ' ? 1 : 4;
	return end - at < 2 || *at != '-' || (at[1] != 'f' && at[1] != 'e');
}

/** The start of the secret in one option: after '=', or after the '%' of "user=NAME%WORD" (smbfs)
    and the ':' of "user=NAME:WORD" (curlftpfs).
    @begin [out]  The start of the name of the option with the secret; may be NULL.
    @return NULL if the option contains no secret. */
static const char *secret_at(const char *option, size_t n, const char **begin)
{
	const char *end = option + n, *found = NULL, *url = NULL, *scheme = NULL;
	const char *from = option, *equals;
	/* One search suffices: a later one would start after the same place, or find nothing. */
	bool knows_sign = false, knows_pass = false;
	for (; (equals = memchr(from, '=', (size_t)(end - from))) != NULL; from = equals + 1) {
		const char *value = equals + 1, *secret = NULL;
		/* For "x-systemd.key" the name is the part after the last dot. */
		const char *dot = memrchr(from, '.', (size_t)(equals - from));
		const char *name = dot ? dot + 1 : from;
		size_t len = (size_t)(equals - name), left = (size_t)(end - value);
		if (found && found < value)
			break;
		/* A value may in turn contain options; a name never contains '/'. */
		if (value == end || (from != option && memchr(from, '/', (size_t)(equals - from))))
			continue;
		if (is_secret_name(name, len)) {
			secret = is_secret_file(name, len, value, left) ? NULL : value;
		} else if (!knows_sign && is_user_name(name, len)) {
			const char *sign = value;
			knows_sign = true;
			while (sign < end && *sign != '%' && *sign != ':')
				++sign;
			secret = sign + 1 < end ? sign + 1 : NULL;
		} else if (!knows_pass && len == 11 && ends_in(name, len, "ssh_command")) {
			knows_pass = true;
			secret = has_password(value, left) ? value : NULL;
		}
		if (!secret && scheme != end && (!scheme || scheme < value)) {
			scheme = memmem(value, left, "://", 3);
			url = scheme ? secret_of_url(scheme, end) : NULL;
			scheme = scheme ? scheme : end;
		}
		secret = secret ? secret : url;
		/* The secret of a URL may start after a secret in its options. */
		if (secret && (!found || secret < found)) {
			found = secret;
			if (begin)
				*begin = from;
		}
	}
	return found;
}

bool has_secret(const char *options)
{
	while (options && *options) {
		size_t n = strcspn(options, ",");
		if (secret_at(options, n, NULL))
			return true;
		options += n + (options[n] == ',');
	}
	return false;
}

/** Find the quote that ends an option: followed by a comma or the end of the text.
    @found  For either quote, the previous result: searches start at increasing positions.
    @return its position; the end of the text if there is no such quote, or if mark is not a
    quote. */
static const char *find_end_quote(const char *found[2], const char *from, const char *end,
                                  char mark)
{
	const char **at = &found[mark == '"'];
	if (mark != '"' && mark != '\'')
		return end;
	if (!*at || *at < from) {
		*at = strchr(from, mark);
		while (*at && (*at)[1] && (*at)[1] != ',')
			*at = strchr(*at + 1, mark);
		*at = *at ? *at : end;
	}
	return *at;
}

void mask_options(const char *options, struct strbuf *out)
{
	const char *end = options + strlen(options);
	const char *quotes[2] = {NULL, NULL};
	while (*options) {
		size_t n = strcspn(options, ",");
		const char *from, *secret = secret_at(options, n, &from);
		if (secret) {
			/* A comma in quotes is part of the value.  The value, the whole option, or
			   both may be quoted. */
			const char *inner = find_end_quote(quotes, secret + 1, end, *secret);
			const char *after = inner < end ? inner + 1 : secret;
			const char *outer = find_end_quote(quotes, after, end, *from);
			const char *quote = outer < end ? outer : inner;
			if (quote < end && quote >= options + n)
				n = (size_t)(quote + 1 - options);
			strbuf_add(out, options, (size_t)(secret - options));
			strbuf_puts(out, "***");
			/* Keep the quote that closes the option, for parsers of the output. */
			if (outer < end)
				strbuf_putc(out, *from);
		} else {
			strbuf_add(out, options, n);
		}
		options += n;
		if (*options == ',') {
			strbuf_putc(out, ',');
			++options;
		}
	}
}

/** The start of the secret in the userinfo of a source, or NULL.
    @sign [out]  The '@' that ends it. */
static const char *secret_of_source(const char *source, const char **sign)
{
	/* "//user:word@server/share", "https://user:word@server/", "https://key@server/",
	   "user:word@server:/dir"; but not a path, nor "10.0.0.1@tcp:/fs" (Lustre), where the '@'
	   precedes the ':'. */
	const char *authority = source;
	const char *scheme = strstr(source, "://");
	bool url = scheme && memchr(source, '/', (size_t)(scheme + 1 - source)) == NULL;
	if (url)
		authority = scheme + 3;
	else if (strncmp(source, "//", 2) == 0)
		authority = source + 2;

	const char *end = authority + strcspn(authority, "/");
	const char *at = memrchr(authority, '@', (size_t)(end - authority));
	const char *colon = at ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
	const char *secret = NULL;
	if (colon && (url || !memchr(authority, '@', (size_t)(colon - authority))))
		secret = colon + 1;
	else if (at && url)
		secret = authority;   /* a single word may be a user name or a key */
	*sign = at;
	return secret == at ? NULL : secret;
}

/** The options that follow or replace a source: "//server/share,password=x".
    @return NULL if they contain no secret. */
static const char *options_of_source(const char *source)
{
	const char *comma = strchr(source, ',');
	size_t first = strcspn(source, ",=");
	const char *options = memchr(source, '/', first) ? comma ? comma + 1 : "" : source;
	return has_secret(options) ? options : NULL;
}

bool source_has_secret(const char *source)
{
	const char *at;
	return source && (secret_of_source(source, &at) || options_of_source(source));
}

/** Mask a source in a single pass. */
static void put_source(const char *source, struct strbuf *out)
{
	const char *at, *secret = secret_of_source(source, &at);
	const char *options = options_of_source(source);
	if (secret) {
		const char *first = options && options < secret ? options : secret;
		strbuf_add(out, source, (size_t)(first - source));
		strbuf_puts(out, "***");
		source = at;
		options = strchr(at, ',');
		options = options && has_secret(options + 1) ? options + 1 : NULL;
	}
	strbuf_add(out, source, options ? (size_t)(options - source) : strlen(source));
	if (options)
		mask_options(options, out);
}

void mask_source(const char *source, struct strbuf *out)
{
	enum { TIMES = 8 };
	struct strbuf texts[2] = {{0}, {0}};
	strbuf_puts(&texts[0], source);
	/* The masked source may be parsed differently and expose another secret: mask it again. */
	int i = 0;
	bool same = !source_has_secret(source);
	for (; i < TIMES && !same; ++i) {
		strbuf_reset(&texts[(i + 1) % 2]);
		put_source(strbuf_str(&texts[i % 2]), &texts[(i + 1) % 2]);
		same = strcmp(strbuf_str(&texts[0]), strbuf_str(&texts[1])) == 0;
	}
	strbuf_puts(out, same ? strbuf_str(&texts[i % 2]) : "***");
	if (texts[0].failed || texts[1].failed)
		strbuf_fail(out);
	strbuf_destroy(&texts[0]);
	strbuf_destroy(&texts[1]);
}

void mask_word(const char *word, struct strbuf *out)
{
	struct strbuf masked = {0};
	mask_options(word, &masked);
	word = strbuf_str(&masked);
	size_t quotes = strspn(word, "\"'");
	strbuf_add(out, word, quotes);
	word += quotes;
	const char *equals = *word != '/' && !strstr(word, "://") ? strchr(word, '=') : NULL;
	if (equals)
		strbuf_add(out, word, (size_t)(equals + 1 - word));
	mask_source(equals ? equals + 1 : word, out);
	if (masked.failed)
		strbuf_fail(out);
	strbuf_destroy(&masked);
}

void mask_text(const char *text, struct strbuf *out)
{
	struct strbuf word = {0};
	while (*text) {
		size_t n = strcspn(text, " \t\n"), own = n;
		/* The punctuation in "(cifs,password=x):" belongs to the text, not to the value. */
		while (own > 0 && strchr("):;", text[own - 1]))
			--own;
		strbuf_reset(&word);
		strbuf_add(&word, text, own);
		mask_options(strbuf_str(&word), out);
		strbuf_add(out, text + own, n - own);
		text += n;
		if (*text)
			strbuf_putc(out, *text++);
	}
	if (word.failed)
		strbuf_fail(out);
	strbuf_destroy(&word);
}

/** The length of the prefix that consists of blanks, or of other bytes if !blank.  A NUL counts as
    a blank. */
static size_t blanks_in(const char *at, size_t n, bool blank)
{
	size_t m = 0;
	while (m < n && (at[m] == ' ' || at[m] == '\t' || !at[m]) == blank)
		++m;
	return m;
}

size_t secret_goes_on(const char *line, size_t n, struct strbuf *word, bool *open)
{
	size_t found = n;
	for (size_t at = 0, m; at < n && found == n; at += m) {
		at += blanks_in(line + at, n - at, true);
		m = blanks_in(line + at, n - at, false);
		strbuf_reset(word);
		strbuf_add(word, line + at, m);
		size_t after = at + m, next = blanks_in(line + after, n - after, true);
		*open = false;
		if (m == 0)
			break;
		if (has_secret(strbuf_str(word))) {
			/* A source ends where the mount point starts. */
			bool source = at == 0 && next > 0 && after + next < n
			              && line[after + next] == '/';
			found = source ? n : after;
			continue;
		}
		bool equals = line[after - 1] != '=' && after + next < n
		              && line[after + next] == '=';
		if (equals)
			strbuf_putc(word, '=');
		strbuf_putc(word, 'x');
		if ((equals || line[after - 1] == '=') && has_secret(strbuf_str(word))) {
			found = equals ? after + next + 1 : after;
			*open = true;
		}
	}
	return word->failed ? 0 : found;
}

/** Whether a text is the last two fields of a line, or the last one: digits. */
static bool is_numbers(const char *text, size_t n)
{
	size_t at = 0;
	for (int fields = 0; fields < 2; ++fields) {
		size_t blanks = blanks_in(text + at, n - at, true);
		if (!blanks || at + blanks == n || !isdigit((unsigned char)text[at + blanks]))
			break;
		at += blanks + 1;
	}
	return at + blanks_in(text + at, n - at, true) == n;
}

bool mask_line(const char *line, size_t n, struct strbuf *out)
{
	struct strbuf word = {0};
	bool open = false;
	size_t start = out->len, end = secret_goes_on(line, n, &word, &open);
	bool ends = !open && !strpbrk(strbuf_str(&word), "\"'") && is_numbers(line + end, n - end);
	end = ends ? n : end;
	for (size_t at = 0; at < end;) {
		size_t m = blanks_in(line + at, end - at, true);
		strbuf_add(out, line + at, m);
		at += m;
		m = blanks_in(line + at, end - at, false);
		strbuf_reset(&word);
		unescape_octal_add(&word, line + at, m);
		at += m;
		bool encoded = word.len < m && has_secret(strbuf_str(&word));
		strbuf_reset(&word);
		strbuf_add(&word, line + at - m, m);
		const char *text = strbuf_str(&word);
		if (at == end && end < n && !open) {
			/* The blank has cut the value, so mask_options() may be wrong. */
			strbuf_add(out, text, strcspn(text, "=") + 1);
			strbuf_puts(out, "***");
		} else if (encoded && !has_secret(text)) {
			strbuf_puts(out, "***");
			end = is_numbers(line + at, n - at) ? end : at;
			open &= end > at;
		} else {
			mask_word(text, out);
		}
	}
	if (end < n && open)
		strbuf_puts(out, "***");
	if (word.failed)
		strbuf_fail(out);
	strbuf_destroy(&word);
	return out->len - start != n || (n && memcmp(out->data + start, line, n) != 0);
}
