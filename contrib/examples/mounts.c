/* SPDX-License-Identifier: MIT */
/* mounts: the name and state of each mount, and what covers it.
   cc mounts.c $(pkg-config --cflags --libs libgetmnt) -o mounts */
#include <getmnt/getmnt.h>

#include <stdio.h>

/* Names can contain control characters. */
static void print(const char *name)
{
	for (const char *p = name ? name : "?"; *p; ++p)
		putchar((unsigned char)*p < ' ' || *p == 127 ? '?' : *p);
}

int main(void)
{
	struct getmnt *gm = getmnt_new();
	if (!gm || getmnt_run(gm) != 0) {
		perror("mounts");
		getmnt_free(gm);
		return 1;
	}
	for (size_t i = 0; i < getmnt_count(gm); ++i) {
		const struct getmnt_mount *m = getmnt_get(gm, i);
		print(m->target);
		printf(" %s", getmnt_state_name(m->state));
		const struct getmnt_mount *by = getmnt_by_id(gm, m->covered_by);
		if (by) {
			printf(" by ");
			print(by->target);
		}
		putchar('\n');
	}
	const char *reason;
	for (size_t i = 0; (reason = getmnt_reason(gm, i)) != NULL; ++i)
		fprintf(stderr, "mounts: incomplete: %s\n", reason);
	int status = getmnt_complete(gm) ? 0 : 2;
	getmnt_free(gm);
	return status;
}
