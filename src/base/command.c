/* SPDX-License-Identifier: MIT */
#include "base/command.h"

#include "base/escape.h"

#include <string.h>

/** Append a word.  Of --option=VALUE only the value is quoted. */
static void add_word(struct strbuf *out, const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	size_t n = strncmp(word, "--", 2) == 0 ? strspn(word, letters) : 0;
	if (n > 0 && word[n] == '=' && word[n + 1]) {
		strbuf_add(out, word, n + 1);
		word += n + 1;
	}
	escape_shell(out, word);
}

/** Whether a word of a list that ends with NULL begins with '-'. */
static bool has_dash(va_list args)
{
	const char *word = "";
	while (word && *word != '-')
		word = va_arg(args, const char *);
	return word;
}

void command_words(struct strbuf *out, const char *word, ...)
{
	va_list args;
	va_start(args, word);
	command_vwords(out, word, args);
	va_end(args);
}

void command_vwords(struct strbuf *out, const char *word, va_list args)
{
	va_list rest;
	const char *blank = "";
	for (bool dash; word; word = va_arg(args, const char *)) {
		va_copy(rest, args);
		dash = has_dash(rest);
		va_end(rest);
		if (strcmp(word, "--") == 0 && !dash)
			continue;
		strbuf_puts(out, blank);
		add_word(out, word);
		blank = " ";
	}
}

void command_more(struct strbuf *out, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		strbuf_putc(out, ' ');
		add_word(out, words[i]);
	}
}

void command_option(struct strbuf *out, const char *option, const char *value)
{
	if (!value)
		return;
	strbuf_putc(out, ' ');
	strbuf_puts(out, option);
	strbuf_putc(out, '=');
	escape_shell(out, value);
}

void command_operand(struct strbuf *out, const char *name)
{
	strbuf_puts(out, *name == '-' ? " -- " : " ");
	escape_shell(out, name);
}
