/* SPDX-License-Identifier: MIT */
/* Commands and text for people: what a shell and a terminal make of them. */
#include "unit.h"

#include "base/command.h"
#include "base/escape.h"
#include "cmd/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

UNIT_TEST(commands)
{
	struct strbuf out = {0};
	const char *const more[] = {"--x=a b", "--x=", "--x y=b c", "-"};
	command_words(&out, "mv", "--", "/a", "b c", NULL);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "mv /a 'b c'");
	strbuf_reset(&out);
	command_words(&out, "mv", "--", "/a", "-b", NULL);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "mv -- /a -b");
	strbuf_reset(&out);
	command_more(&out, more, 4);
	command_option(&out, "--no", NULL);
	command_option(&out, "--dir", "");
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), " --x='a b' --x= '--x y=b c' - --dir=''");
	strbuf_destroy(&out);
}

/** Append a command that prints a word, and check that a terminal would print all of it. */
static void put_printed(struct strbuf *script, const char *word)
{
	struct strbuf command = {0}, shown = {0};
	command_words(&command, "printf", "%s\\0", word, NULL);
	escape_terminal(&shown, strbuf_str(&command));
	CU_ASSERT_STRING_EQUAL(strbuf_str(&shown), strbuf_str(&command));
	strbuf_puts(script, strbuf_str(&command));
	strbuf_putc(script, '\n');
	strbuf_destroy(&command);
	strbuf_destroy(&shown);
}

static uint64_t next_random(void)
{
	static uint64_t state = 1;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/** A shell gives each word of a command back: every byte before and after every kind of byte, and
    in longer words.  A shell without $'...' never runs a part of one. */
UNIT_TEST(commands_in_a_shell)
{
	static const char others[] = "a \\'\"$`;\n\x1b\xc3\xff-=!*~#&|<(";
	struct strbuf script = {0}, words = {0}, run = {0};
	static const char *const shells[] = {"bash", "sh"};
	for (int first = 1; first < 256; ++first) {
		for (size_t i = 0; i < sizeof(others); ++i) {
			const char word[] = {(char)first, others[i], (char)first, '\0'};
			put_printed(&script, word);
			strbuf_add(&words, word, strlen(word) + 1);
		}
	}
	for (unsigned n = 0; n < 500; ++n) {
		char word[24] = "'; touch PWN; '";
		for (size_t i = n % 16; i < sizeof(word) - 1; ++i)
			word[i] = (char)(next_random() % 255 + 1);
		put_printed(&script, word);
		strbuf_add(&words, word, strlen(word) + 1);
	}
	char dir[] = "/tmp/getmnt-commands.XXXXXX";
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_FALSE_FATAL(script.failed || words.failed);
	for (size_t i = 0; i < 2; ++i) {
		size_t len = words.len + 1, n;
		char *back = calloc(1, len + 1);
		strbuf_reset(&run);
		strbuf_printf(&run, "%s/script", dir);
		FILE *file = fopen(strbuf_str(&run), "w");
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		CU_ASSERT_EQUAL(fwrite(script.data, 1, script.len, file), script.len);
		CU_ASSERT_EQUAL(fclose(file), 0);
		strbuf_reset(&run);
		strbuf_printf(&run, "cd %s && %s ./script; rm script; cd / && rmdir %s", dir,
		              shells[i], dir);
		file = popen(strbuf_str(&run), "r");
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		n = fread(back, 1, len, file);
		/* The directory was empty again: no part of a word was run. */
		CU_ASSERT_EQUAL(pclose(file), 0);
		if (i == 0)
			CU_ASSERT_TRUE(n == words.len && memcmp(back, words.data, n) == 0);
		CU_ASSERT_EQUAL(mkdir(dir, 0700), 0);
		free(back);
	}
	CU_ASSERT_EQUAL(rmdir(dir), 0);
	strbuf_destroy(&script);
	strbuf_destroy(&words);
	strbuf_destroy(&run);
}

/** Every conversion is that of printf(3), except that strings are escaped. */
UNIT_TEST(texts)
{
	struct strbuf out = {0};
	const char *name = "a\x1b[2J\n\xc2\x9b";
	text_add(&out, "%s|%.3s|%.*s|%5s|%-5s|%-*s|%c", name, name, -1, "b\r", "c", "d", 3,
	         "e\a", '\t');
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "a\\x1b[2J\\x0a\\xc2\\x9b|a\\x1b[|b\\x0d|    c"
	                       "|d    |e\\x07|\\x09");
	strbuf_reset(&out);
	text_add(&out, "%u %d %zu %" PRIu64 " %ld %12" PRIu32 "%% %.1f %.*f %5d|%-4u|\n", 1u, -2,
	         (size_t)3, UINT64_MAX, -5L, UINT32_MAX, 0.25, 2, 1.5, -7, 8u);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "1 -2 3 18446744073709551615 -5   4294967295% 0.2 "
	                       "1.50    -7|8   |\n");
	CU_ASSERT_FALSE(out.failed);
	strbuf_destroy(&out);
}
