/* SPDX-License-Identifier: MIT */
/* Roots on other hosts, and the words of --rsh.  tests/system/remote.py has the conversations. */
#include "unit.h"

#include "remote/remote.h"

UNIT_TEST(roots)
{
	static const struct {
		const char *root, *user, *host, *path, *wrong;
		unsigned port;
	} rows[] = {
		{"ssh://h/", NULL, "h", "/", NULL, 0},
		{"ssh://h/a//b/", NULL, "h", "/a//b/", NULL, 0},
		{"ssh://u@h.example.org:22/x y", "u", "h.example.org", "/x y", NULL, 22},
		{"ssh://u@h/a@b:c", "u", "h", "/a@b:c", NULL, 0},
		{"ssh://DOM+u.x-y@10.0.0.1:65535/", "DOM+u.x-y", "10.0.0.1", "/", NULL, 65535},
		{"ssh://[::1]/e", NULL, "::1", "/e", NULL, 0},
		{"ssh://u@[fe80::1%eth0]:2222/", "u", "fe80::1%eth0", "/", NULL, 2222},
		{"ssh://h/%20", NULL, "h", "/%20", NULL, 0},
		{"ssh://h_1/", NULL, "h_1", "/", NULL, 0},
		{"ssh://h", .wrong = "no directory"},
		{"ssh://", .wrong = "no directory"},
		{"ssh:///etc", .wrong = "host"},
		{"ssh://u@/etc", .wrong = "host"},
		{"ssh://@h/etc", .wrong = "user"},
		{"ssh://-oProxyCommand=x/", .wrong = "host"},
		{"ssh://-h/", .wrong = "host"},
		{"ssh://u@-h/", .wrong = "host"},
		{"ssh://-l@h/", .wrong = "user"},
		{"ssh://a b/", .wrong = "host"},
		{"ssh://a\nb/", .wrong = "host"},
		{"ssh://$(x)/", .wrong = "host"},
		{"ssh://a;b/", .wrong = "host"},
		{"ssh://`x`@h/", .wrong = "user"},
		{"ssh://a@b@c/", .wrong = "user"},
		{"ssh://u:secret@h/", .wrong = "password"},
		{"ssh://h:/", .wrong = "port"},
		{"ssh://h:0/", .wrong = "port"},
		{"ssh://h:65536/", .wrong = "port"},
		{"ssh://h:99999999999999999999/", .wrong = "port"},
		{"ssh://h:22x/", .wrong = "port"},
		{"ssh://h:-1/", .wrong = "port"},
		{"ssh://::1/", .wrong = "host"},
		{"ssh://[::1/", .wrong = "address"},
		{"ssh://[::1]x/", .wrong = "address"},
		{"ssh://[]/", .wrong = "host"},
		{"ssh://[-x]/", .wrong = "host"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct search_server server;
		const char *path;
		char *text = strdup(rows[i].root);
		unit_note("%s", rows[i].root);
		CU_ASSERT_TRUE(remote_is(text));
		const char *wrong = remote_parse(text, &server, &path);
		CU_ASSERT_EQUAL_FATAL(wrong != NULL, rows[i].wrong != NULL);
		if (wrong) {
			CU_ASSERT_PTR_NOT_NULL(strstr(wrong, rows[i].wrong));
		} else {
			CU_ASSERT_STRING_EQUAL(server.scheme, "ssh");
			CU_ASSERT_STRING_EQUAL(server.host, rows[i].host);
			CU_ASSERT_STRING_EQUAL(path, rows[i].path);
			CU_ASSERT_EQUAL(server.port, rows[i].port);
			CU_ASSERT_EQUAL(server.user != NULL, rows[i].user != NULL);
			if (server.user && rows[i].user)
				CU_ASSERT_STRING_EQUAL(server.user, rows[i].user);
		}
		free(text);
	}
	CU_ASSERT_FALSE(remote_is("ssh:/h/") || remote_is("./ssh://h/") || remote_is("sshx://h/")
	                || remote_is("") || remote_is("SSH://h/") || remote_is("http://h/"));
}

UNIT_TEST(words)
{
	static const struct {
		const char *text, *words;   /* each in brackets */
		int n;
	} rows[] = {
		{"ssh", "[ssh]", 1},
		{"  ssh \t -i  key ", "[ssh][-i][key]", 3},
		{"ssh -o'A b'  \"c d\"", "[ssh][-oA b][c d]", 3},
		{"a 'it''s' \"q\"\"q\"", "[a][it's][q\"q]", 3},
		{"a '' b", "[a][][b]", 3},
		{"a \\ b", "[a][\\][b]", 3},
		{"a 'x\"y' \"x'y\"", "[a][x\"y][x'y]", 3},
		{"", "", 0},
		{"   ", "", 0},
		{"a 'b", NULL, -1},
		{"a b c d e f", NULL, -1},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char *text = strdup(rows[i].text), *words[5];
		struct strbuf got = {0};
		int n = remote_words(text, words, COUNT(words));
		unit_note("%s", rows[i].text);
		CU_ASSERT_EQUAL(n, rows[i].n);
		for (int k = 0; k < n; ++k)
			strbuf_printf(&got, "[%s]", words[k]);
		if (n >= 0)
			unit_expect(strbuf_str(&got), rows[i].words);
		strbuf_destroy(&got);
		free(text);
	}
}
