/* SPDX-License-Identifier: MIT */
/* Parse roots on other hosts, and the command of a remote shell (pure). */
#include "remote/remote.h"

static const char *const schemes[] = {"ssh", "chirp"};

/** Get the scheme of a root; NULL: the root is on this host. */
static const char *scheme_of(const char *root)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); ++i) {
		const size_t n = strlen(schemes[i]);
		if (strncmp(root, schemes[i], n) == 0 && strncmp(root + n, "://", 3) == 0)
			return schemes[i];
	}
	return NULL;
}

bool remote_is(const char *root)
{
	return scheme_of(root);
}

size_t remote_prefix(const char *root)
{
	const char *scheme = scheme_of(root);
	size_t n = scheme ? strlen(scheme) + strlen("://") : 0;
	return scheme ? n + strcspn(root + n, "/") : 0;
}

/** Whether the name of a user or host can be an argument of a remote shell, which may insert the
    name in a command of its own.
    @refused  Characters that are not allowed.
    Source: valid_ruser() and valid_hostname() of ssh.c of OpenSSH 9.6. */
static bool is_plain(const char *name, const char *refused)
{
	for (const char *c = name; *c; ++c) {
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr(refused, *c))
			return false;
	}
	return true;
}

/** Parse a port number.
    @return false: not a number from 1 to 65535. */
static bool parse_port(const char *text, unsigned *port)
{
	*port = 0;
	for (; *text >= '0' && *text <= '9' && *port <= 65535; ++text)
		*port = *port * 10 + (unsigned)(*text - '0');
	return *text == '\0' && *port >= 1 && *port <= 65535;
}

const char *remote_parse(char *text, struct search_server *server, const char **path)
{
	const char *scheme = scheme_of(text);
	char *host = text + strlen(scheme) + 3, *slash = strchr(host, '/'), *port = NULL;
	*server = (struct search_server){.scheme = scheme};
	if (!slash)
		return *scheme == 's'
		       ? "it has no directory; / is that of the whole host: ssh://HOST/"
		       : "it has no directory; / is all that the server exports: chirp://HOST/";
	/* The path begins with this slash.  Move the text before it to the left, to make room for a
	   NUL. */
	size_t n = (size_t)(slash - host);
	memmove(host - 1, host, n);
	host[n - 1] = '\0';
	--host;
	*path = slash;
	char *at = strrchr(host, '@');
	if (at) {
		*at = '\0';
		server->user = host;
		host = at + 1;
		if (*scheme == 'c')
			return "a Chirp server finds out itself who the user is (--chirp-auth)";
		if (strchr(server->user, ':'))
			return "a password is not accepted here; ssh asks for it";
		if (!*server->user || *server->user == '-'
		    || !is_plain(server->user, "'`\"$\\;&<>|(){}@"))
			return "the name of its user is not valid";
	}
	if (*host == '[') {
		char *end = strchr(++host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return "the address of its host is not valid: [ADDRESS] or [ADDRESS]:PORT";
		port = end[1] ? end + 2 : NULL;
		*end = '\0';
	} else {
		port = strchr(host, ':');
		if (port)
			*port++ = '\0';
	}
	server->host = host;
	if (!*host || *host == '-' || !is_plain(host, "'`\"$\\;&<>|(){}@*?[]#~=!,"))
		return "the name of its host is not valid";
	if (port && !parse_port(port, &server->port))
		return "its port is not a number from 1 to 65535";
	return NULL;
}

int remote_words(char *text, char **words, int most)
{
	int n = 0;
	for (;;) {
		text += strspn(text, " \t");
		if (!*text)
			return n;
		if (n == most)
			return -1;
		char *to = words[n++] = text, quote = '\0';
		for (; *text && (quote || !strchr(" \t", *text)); ++text) {
			if (quote && *text == quote && text[1] == quote)
				*to++ = *text++;
			else if (quote && *text == quote)
				quote = '\0';
			else if (!quote && (*text == '\'' || *text == '"'))
				quote = *text;
			else
				*to++ = *text;
		}
		if (quote)
			return -1;
		text += *text != '\0';
		*to = '\0';
	}
}
