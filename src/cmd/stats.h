/* SPDX-License-Identifier: MIT */
/** Reports about a run: members of JSON documents, --stats, --explain, --version. */
#ifndef GM_CMD_STATS_H
#define GM_CMD_STATS_H

#include "cmd/json.h"
#include "cmd/run.h"
#include "cmd/text.h"

/** Write the members about a run that all JSON documents have: schema, version, host ...
    incomplete_reasons. */
void json_head(const struct run *run, struct json *json);

/** Append the number of kernel calls of each kind as text, or write the members "calls"
    and "total_calls". */
void stats_calls_text(const struct os *os, struct text *out);
void stats_calls_json(const struct os *os, struct json *json);

/** Print --stats on stderr.
    @form  enum stats_form.  @watched  The number of mounts, if the run has no table. */
void stats_print(struct run *run, int form, size_t watched);

/** Append the table of --explain. */
void explain_text(const struct run *run, struct text *out);

/** Write the member "rules" of a JSON document: the data of --explain. */
void explain_json(const struct run *run, struct json *json);

/** Print --version. */
void version_print(const struct os *os);

#endif
