/* SPDX-License-Identifier: MIT */
/* The messages of fstab --merge about lines and mounts. */
#include "cmd/fstab/merge.h"

#include "base/command.h"
#include "base/escape.h"
#include "base/secret.h"
#include "fstab/target.h"

#include <inttypes.h>

/**
 * The message of each kind of note, and the argument of --fix with which a merge fixes the problem.
 *
 * %l is the source of the line, %m the source of the mount, %M its mount point, %w the reason why
 * the mount has no line, %n the line number of note->other, %p the pass of the line, %P the
 * expected pass, %t the text of the note, %o the text of the note as options with secrets masked.
 */
static const struct {
	const char *message, *fix;
} rows[FSTAB_NOTE_KINDS] = {
	[FSTAB_NOTE_DAMAGED] = {"damaged: %t", "damaged"},
	[FSTAB_NOTE_ODD] = {"%t"},
	[FSTAB_NOTE_MISSING] = {"mounted from %m, and has no line"},
	[FSTAB_NOTE_NO_LINE] = {"has no line and cannot be expressed in fstab: %t"},
	[FSTAB_NOTE_SOURCE] = {"mounts %l, but the mount there is %m", "source"},
	[FSTAB_NOTE_NAME] = {"another name of %m"},
	[FSTAB_NOTE_OPTIONS] = {"is mounted with other options: %o", "options"},
	[FSTAB_NOTE_REFUSED] = {"has options that the kernel refuses: %o", "options"},
	[FSTAB_NOTE_PASS] = {"pass is %p, expected %P", "pass"},
	[FSTAB_NOTE_REPEATED] = {"the same source and mount point as line %n", "damaged"},
	[FSTAB_NOTE_CONFLICT] = {"mounts something else; the mount there is that of line %n"},
	[FSTAB_NOTE_ELSEWHERE] = {"not mounted; its source is mounted on %M"},
	[FSTAB_NOTE_ORDER] = {"needs line %n, which comes later", "order"},
	[FSTAB_NOTE_AGAIN] = {"mounted once more by this line: %t", "damaged"},
	[FSTAB_NOTE_UNKNOWN] = {"%t cannot have a line: %w"},
};

/** The mount point or swap space that a note is about; or NULL. */
static const char *place_of(const struct fstab_note *note)
{
	const struct fstab_line *live = note->live;
	const char *target = note->line ? note->line->target : NULL;
	if (live && live->swap)
		return live->swap;
	if (target && *target == '/')
		return target;
	return live && live->target ? live->target
	       : note->line ? note->line->source : NULL;
}

static void put_message(struct strbuf *out, const char *message, const struct fstab_note *note)
{
	const struct fstab_line *live = note->live;
	for (; *message; ++message) {
		if (*message != '%') {
			strbuf_putc(out, *message);
			continue;
		}
		switch (*++message) {
		case 'l':
			fstab_name_line(note->line, live, out);
			break;
		case 'm':
			fstab_name_live(live, note->line, out);
			break;
		case 'M':
			strbuf_puts(out, live->target);
			break;
		case 'w':
			strbuf_puts(out, live && live->why ? live->why : "it is not mounted");
			break;
		case 'n':
			strbuf_number(out, note->other->number);
			break;
		case 'p':
			strbuf_printf(out, "%d", note->line->passno > 0 ? note->line->passno : 0);
			break;
		case 'P':
			strbuf_printf(out, "%d", live->passno);
			break;
		case 't':
			strbuf_puts(out, note->text ? note->text : "?");
			break;
		case 'o':
			mask_options(note->text, out);
			break;
		}
	}
}

static void report_note(const char *file, const struct fstab_note *note)
{
	const char *place = place_of(note), *text = rows[note->kind].message;
	const char *fix = rows[note->kind].fix;
	struct strbuf out = {0}, added = {0}, why = {0};
	if (note->line)
		strbuf_printf(&out, "line %" PRIu32 ": ", note->line->number);
	if (place && *place)
		strbuf_printf(&out, "%s: ", place);
	if (note->kind == FSTAB_NOTE_NAME && !note->done && !note->edited)
		text = "it is not known whether its source is %m";
	else if (note->kind == FSTAB_NOTE_ORDER && !note->other)
		text = "needs the line of %M, which comes later";
	put_message(&out, text, note);
	if (note->edited) {
		strbuf_puts(&out, "; changed since the base, so left");
	} else if (note->back) {
		strbuf_puts(&out, "; fixed, although it was removed after systemd loaded it");
	} else if (note->done) {
		strbuf_puts(&out, "; fixed");
	} else if (note->kind == FSTAB_NOTE_MISSING) {
		strbuf_putc(&out, ';');
		escape_octal(&added, place ? place : "?", ESCAPE_ADDED, true);
		command_option(&out, "--add", strbuf_str(&added));
	} else if (fix && (note->kind != FSTAB_NOTE_SOURCE || note->live->fate == FSTAB_LINE)) {
		strbuf_putc(&out, ';');
		command_option(&out, "--fix", fix);
	} else if (note->kind == FSTAB_NOTE_SOURCE && note->line->root && note->live->mount
	           && fstab_root_fault(note->line, note->live->mount, &why)) {
		strbuf_printf(&out, "; remounting it at boot (systemd-remount-fs) fails: %s; "
		              "comment the line out, or write ro as its only option",
		              strbuf_str(&why));
	}
	message(file, "%s", strbuf_str(&out));
	strbuf_destroy(&out);
	strbuf_destroy(&added);
	strbuf_destroy(&why);
}

bool merge_report(const char *file, const struct fstab_merged *merged, bool explain)
{
	bool good = true;
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		good &= note->kind != FSTAB_NOTE_UNKNOWN;
		if (!note->done || note->back || explain)
			report_note(file, note);
	}
	return good;
}
