/* SPDX-License-Identifier: MIT */
/*
 * Authentication to a Chirp server: the client offers its methods one after the other.
 *
 * With the method "unix" the server chooses the path of a file that the client creates, which is
 * dangerous.  So the client creates only DIRECTORY/challenge.*, and offers this method only to a
 * server on this host or if the user chose it.
 */
#include "remote/chirp_impl.h"

#include "base/words.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static const char *const methods[] = {
	[CHIRP_UNIX] = "unix", [CHIRP_HOSTNAME] = "hostname", [CHIRP_ADDRESS] = "address",
};

void chirp_auth_init(struct chirp_auth *auth, bool same_host)
{
	*auth = (struct chirp_auth){.proofs = CHIRP_PROOFS};
	if (same_host)
		auth->methods[auth->n++] = CHIRP_UNIX;
	auth->methods[auth->n++] = CHIRP_HOSTNAME;
	auth->methods[auth->n++] = CHIRP_ADDRESS;
}

const char *chirp_auth_read(struct chirp_auth *auth, const char *text)
{
	*auth = (struct chirp_auth){.proofs = CHIRP_PROOFS};
	for (const char *word = text, *end; ; word = end + 1) {
		end = strchrnul(word, ',');
		size_t n = (size_t)(end - word);
		const char *colon = memchr(word, ':', n);
		size_t name = colon ? (size_t)(colon - word) : n;
		int method = CHIRP_METHODS - 1;
		while (method >= 0 && !word_is(word, name, methods[method]))
			--method;
		if (method < 0 || (colon && method != CHIRP_UNIX))
			return "must be methods of unix, hostname, address, or unix:/DIRECTORY";
		for (size_t i = 0; i < auth->n; ++i) {
			if ((int)auth->methods[i] == method)
				return "a method is given twice";
		}
		auth->methods[auth->n++] = (enum chirp_method)method;
		if (colon) {
			size_t len = n - name - 1;
			while (len > 1 && colon[len] == '/')
				--len;
			if (len == 0 || colon[1] != '/')
				return "the directory of unix must begin with \"/\"";
			if (len >= sizeof(auth->room))
				return "the directory of unix is too long";
			memcpy(auth->room, colon + 1, len);
			auth->room[len] = '\0';
			auth->proofs = auth->room;
		}
		if (!*end)
			return NULL;
	}
}

void chirp_try_method(struct chirp *chirp)
{
	struct talk *talk = &chirp->talk;
	const struct chirp_login *login = &chirp->login;
	chirp->step = STEP_METHOD;
	if (login->method < login->auth.n)
		strbuf_printf(&talk->out, "%s\n", methods[login->auth.methods[login->method]]);
	else
		talk_fail(talk, "it accepts none of the methods of authentication (%s)",
		          strbuf_str(&chirp->login.tried));
}

/** Record that the current method failed, and try the next method.
    @why  The reason, as a phrase. */
static void next_method(struct chirp *chirp, const char *why)
{
	strbuf_printf(&chirp->login.tried, "%s%s: %s", chirp->login.tried.len ? ", " : "",
	              methods[chirp->login.auth.methods[chirp->login.method]], why);
	++chirp->login.method;
	chirp_try_method(chirp);
}

/** Whether a path of n bytes that the server chose may be created. */
static bool is_challenge(const struct chirp *chirp, const char *path, size_t n)
{
	static const char start[] = "/challenge.";
	const size_t nstart = sizeof(start) - 1;
	const char *dir = chirp->login.auth.proofs;
	size_t ndir = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	if (n < ndir || memcmp(path, dir, ndir) != 0 || n - ndir <= nstart
	    || memcmp(path + ndir, start, nstart) != 0 || n - ndir > NAME_MAX)
		return false;
	for (size_t i = ndir + 1; i < n; ++i) {
		if (!isgraph((unsigned char)path[i]) || path[i] == '/')
			return false;
	}
	return true;
}

/** Create the file that the server requires, and send "yes"; or send "no" and try the next
    method. */
static void take_challenge(struct chirp *chirp, const char *path, size_t n, struct talk_sink *sink)
{
	struct strbuf why = {0};
	char *name = strndup(path, n < PATH_MAX ? n : PATH_MAX);
	int error = 0;
	if (name && !is_challenge(chirp, path, n)) {
		strbuf_printf(&why, "it requires to create \"%s\", which is not %s/challenge.*",
		              name, chirp->login.auth.proofs);
	} else {
		error = !name ? ENOMEM : sink->prove ? sink->prove(sink, name) : ENOSYS;
		if (error)
			strbuf_printf(&why, "\"%s\" cannot be created: %s", name ? name : "",
			              strerror(error));
	}
	strbuf_puts(&chirp->talk.out, why.len ? "no\n" : "yes\n");
	if (why.len)
		next_method(chirp, strbuf_str(&why));
	else
		chirp->step = STEP_PROOF;
	free(name);
	strbuf_destroy(&why);
}

void chirp_take_proof(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink)
{
	bool yes = word_is(line, n, "yes"), no = word_is(line, n, "no");
	assert(chirp->login.method < chirp->login.auth.n && chirp->step < STEP_ANSWER);
	bool by_file = chirp->login.auth.methods[chirp->login.method] == CHIRP_UNIX;
	if (chirp->step <= STEP_ADMITTED && chirp->step != STEP_CHALLENGE && !yes && !no) {
		talk_fail(&chirp->talk, "this is no Chirp server");
		return;
	}
	if (chirp->step == STEP_PROOF && by_file)
		sink->prove(sink, NULL);
	switch (chirp->step) {
	case STEP_METHOD:
		chirp->talk.met = true;
		if (no)
			next_method(chirp, "the server does not offer it");
		else
			chirp->step = by_file ? STEP_CHALLENGE : STEP_PROOF;
		break;
	case STEP_CHALLENGE:
		take_challenge(chirp, line, n, sink);
		break;
	case STEP_PROOF:
	case STEP_ADMITTED:
		if (no)
			next_method(chirp, "the server does not accept it");
		else
			++chirp->step;
		break;
	default:
		++chirp->step;
		break;
	}
}
