/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include <string.h>
#include <strings.h>

/** Whether an option of this name has a secret for its value. */
static bool is_secret_name(const char *name, size_t n)
{
	static const char whole[][7] = {
		"pass", "pw", "pwd", "cred", "creds", "key", "apikey", "auth",
	};
	static const char *const parts[] = {
		"passw", "passphrase", "passkey", "secret", "credential", "token",
	};
	static const char *const ends[] = {"pass", "pw", "pwd"};
	/* That of a ceph's is the name of a file, which holds it. */
	if (n == 10 && strncasecmp(name, "secretfile", n) == 0)
		return false;
	for (size_t i = 0; n < sizeof(*whole) && i < sizeof(whole) / sizeof(*whole); ++i) {
		if (strlen(whole[i]) == n && strncasecmp(name, whole[i], n) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); ++i) {
		size_t len = strlen(ends[i]);
		if (n > len && strchr("-_.", name[n - len - 1]) && strncasecmp(name + n - len, ends[i], len) == 0)
			return true;
	}
	for (size_t at = 0; at < n; ++at) {
		/* Most letters begin none. */
		if (!memchr("pPsScCtT", name[at], 8))
			continue;
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); ++i) {
			size_t len = strlen(parts[i]);
			if (len <= n - at && strncasecmp(name + at, parts[i], len) == 0)
				return true;
		}
	}
	return false;
}

/**
 * Where the secret of one option begins: behind '=', or for "user=NAME%WORD"
 * (smbfs) behind '%'.  @return NULL if the option holds none.
 */
static const char *secret_at(const char *option, size_t n)
{
	const char *equals = memchr(option, '=', n);
	if (!equals || equals + 1 == option + n)
		return NULL;
	size_t name = (size_t)(equals - option);
	/* "x-systemd.key": what stands behind the last dot names the value. */
	const char *dot = memrchr(option, '.', name);
	const char *last = dot ? dot + 1 : option;
	if (is_secret_name(last, (size_t)(equals - last)))
		return equals + 1;
	if ((name == 4 && strncasecmp(option, "user", 4) == 0)
	    || (name == 8 && strncasecmp(option, "username", 8) == 0)) {
		const char *percent = memchr(equals, '%', (size_t)(option + n - equals));
		return percent ? percent + 1 : NULL;
	}
	return NULL;
}

bool has_secret(const char *options)
{
	while (*options) {
		size_t n = strcspn(options, ",");
		if (secret_at(options, n))
			return true;
		options += n + (options[n] == ',');
	}
	return false;
}

void mask_options(const char *options, struct strbuf *out)
{
	while (*options) {
		size_t n = strcspn(options, ",");
		const char *secret = secret_at(options, n);
		if (secret) {
			/* Quotes keep a ',' in the value; one that ends it has nothing
			   behind it, lest what another begins be shown. */
			const char *quote = *secret == '"' ? strchr(secret + 1, '"') : NULL;
			while (quote && quote[1] && quote[1] != ',')
				quote = strchr(quote + 1, '"');
			if (quote && quote >= options + n)
				n = (size_t)(quote + 1 - options);
			strbuf_add(out, options, (size_t)(secret - options));
			strbuf_puts(out, "***");
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

void mask_source(const char *source, struct strbuf *out)
{
	/* "//user:word@server/share", "https://user:word@server/", "https://key@server/",
	   "user:word@server:/dir"; a plain path has no userinfo, and in
	   "10.0.0.1@tcp:/fs" (Lustre) the '@' comes before any ':'. */
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
		secret = authority;   /* a lone word may be the name, or a key */
	if (!secret || secret == at) {
		strbuf_puts(out, source);
		return;
	}
	strbuf_add(out, source, (size_t)(secret - source));
	strbuf_puts(out, "***");
	strbuf_puts(out, at);
}
