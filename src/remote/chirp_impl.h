/* SPDX-License-Identifier: MIT */
/** Shared by the files of the Chirp client. */
#ifndef GM_REMOTE_CHIRP_IMPL_H
#define GM_REMOTE_CHIRP_IMPL_H

#include "remote/chirp.h"

#include "base/intern.h"
#include "select/pattern.h"
#include "select/query.h"

enum {
	CHIRP_LINE = 1024,             /* bytes of a request with its newline; the server closes the
	                                  connection of a client that sends more */
	CHIRP_RECORD = TALK_PATH_MAX + 1024,   /* bytes of a record in an answer */
	CHIRP_NAME = 4096,             /* bytes of a name in a listing */
	CHIRP_PATTERN = 64,            /* of these, at least for the pattern */
	CHIRP_WINDOW = 64,             /* requests without an answer */
	CHIRP_DIRS = 256 << 20,        /* bytes of the names of directories to be listed */
	CHIRP_KEPT = 64 << 20,         /* bytes of entries that may be below symlinks */
};

/** Flags of the RPC "search". */
enum {
	CHIRP_STOPATFIRST = 1 << 0, CHIRP_METADATA = 1 << 1,
	CHIRP_ACCESS = SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK,   /* the same values */
	/* What only a server can do. */
	CHIRP_ONLY_SERVER = CHIRP_ACCESS | SEARCH_FOLLOW,
};

/* chirp_pattern.c */

/** Consecutive alternatives of a pattern, which one request can search for. */
struct chirp_part {
	char *wire;                    /* for the server */
	struct pattern *pattern;
};

struct chirp_parts {
	struct chirp_part *list;
	size_t n, room;
	bool exact;                    /* the server returns nothing that does not match */
};

/** Divide a valid pattern into parts.
    @most      Bytes of a part on the wire, at least 1.
    @levels    As in struct talk_request.
    @return 0, or -1.  Errors: ENOMEM. */
int chirp_parts_init(struct chirp_parts *parts, const char *text, unsigned flags, size_t most,
                     unsigned levels);
void chirp_parts_destroy(struct chirp_parts *parts);

/** Append a path for a request. */
void chirp_put_path(struct strbuf *out, const char *path);

/* chirp_record.c */

/** A line of an answer to a search. */
struct chirp_record {
	int err, source;               /* 0: an object */
	const char *path;
	size_t len;
	bool has_st;
	struct k_statx st;
};

enum chirp_reading { CHIRP_PART, CHIRP_WHOLE, CHIRP_WRONG };

/** Whether a line can be the start of a record; if not, it continues a name with a newline. */
bool chirp_starts(const char *line, size_t n);

/** Read a record.
    @text  It chirp_starts(); without its newline.
    @return CHIRP_PART: it goes on in the next line; CHIRP_WRONG: a number is too large. */
enum chirp_reading chirp_record_read(const char *text, size_t n, struct chirp_record *record);

/** Read the attributes of an object: 13 numbers.
    @return CHIRP_PART: these are not 13 numbers; CHIRP_WRONG: one is too large. */
enum chirp_reading chirp_stat_read(const char *text, size_t n, struct k_statx *st);

/** Read a status: 0, or a negative number of at most 4 digits.  @return 1: it is none. */
int chirp_status_read(const char *text, size_t n);

/** The errno of a status. */
int chirp_errno(int status);

/* chirp.c, chirp_proof.c, chirp_answer.c */

/** What the next line of the server is. */
enum chirp_step {
	STEP_METHOD,     /* whether it knows the method */
	STEP_CHALLENGE,  /* which file to create */
	STEP_PROOF,      /* whether the proof holds */
	STEP_ADMITTED,   /* whether this user may connect */
	STEP_KIND,       /* the method */
	STEP_NAME,       /* who we are */
	STEP_ANSWER,
};

enum chirp_kind {
	CHIRP_SEARCH,    /* a root, for a part of the pattern */
	CHIRP_LIST,      /* a directory */
	CHIRP_ROOT,      /* a root itself */
	CHIRP_LSTAT,     /* whether a directory on the way to a result is a symlink */
};

/** A request of one line. */
struct chirp_job {
	struct chirp_job *next;
	enum chirp_kind kind;
	size_t root;
	size_t part;                   /* of the pattern; of CHIRP_LSTAT: the directory's number */
	unsigned depth;                /* of the directory; 0: a root */
	uint64_t dev;                  /* its device; not used for a root */
	size_t len;
	char path[];                   /* below the root */
};

/** The authentication: which method is tried. */
struct chirp_login {
	struct chirp_auth auth;
	size_t method;                 /* index of the one that is tried */
	struct strbuf tried;           /* why no method succeeded */
};

/** Entries that may be below symlinks, until that is known: chirp_hold.c. */
struct chirp_held {
	struct strbuf kept;            /* entries that may be below symlinks */
	struct intern dirs;            /* the directories above them: root and path */
	bool *links;                   /* by the number of the directory */
	bool asked;                    /* all of them were requested */
	bool passed;                   /* an object was passed on */
};

/** Invariants: `jobs` are in the order in which they are sent; the first `waiting` ones were sent,
    at most CHIRP_WINDOW, and `unsent` is the next one, or NULL; `end` is where the list ends, and
    `held` the size of all jobs.  While no answer is expected there are no jobs. */
struct chirp {
	struct talk talk;
	struct chirp_login login;
	enum chirp_step step;
	struct strbuf in;              /* an incomplete line */
	size_t looked;                 /* bytes of it that hold no newline */

	/* A search. */
	struct talk_request request;   /* its strings are used only in ask() */
	size_t nroots, nexclude;
	char **roots;                  /* normal */
	char **names;                  /* as printed, for tests of paths */
	uint64_t *devs;                /* of the roots */
	bool *closed;                  /* roots that do not exist, or are no directories */
	bool follow_roots;
	unsigned wire_flags;
	struct pattern *pattern;
	struct pattern **exclude;
	struct query *query;           /* NULL: none */
	struct chirp_parts parts;
	uint64_t *live;                /* two sets of states of any of these patterns */
	size_t words;                  /* of a set */
	struct intern errors;          /* of several parts: each error is passed on once */
	bool ended;                    /* early: the rest of the answer may follow */

	struct chirp_job *jobs, *unsent;
	struct chirp_job **end;
	size_t waiting;                /* jobs sent and not answered */
	size_t held;                   /* bytes of all jobs */
	bool listed;                   /* the last answer was that of a listing */
	bool answering;                /* the status of the first job has been received */
	struct strbuf record;          /* an incomplete record or name */
	bool named;                    /* `record` is the name of the next attributes */
	struct strbuf path, tested;

	struct chirp_held hold;
};

/** Add a request.  @path  Below the root.  @return false: it is too long for a line. */
bool chirp_add_job(struct chirp *chirp, const struct chirp_job *job, const char *path);

/** Try the current method of authentication, or fail if there is none left. */
void chirp_try_method(struct chirp *chirp);

/** Take a line before STEP_ANSWER. */
void chirp_take_proof(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink);

/* chirp_hold.c */

/** Pass on an entry, or keep it until it is known that no directory above it is a symlink.
    @dir  It is a directory that was opened: the same applies to itself. */
void chirp_pass(struct chirp *chirp, const struct chirp_job *job, const struct talk_entry *entry,
                bool dir, struct talk_sink *sink);

/** All jobs are done: add jobs for the directories above the kept entries, or pass on those that
    are not below a symlink. */
void chirp_settle(struct chirp *chirp, struct talk_sink *sink);

/** The answer about a directory.  @line  Its attributes. */
void chirp_take_lstat(struct chirp *chirp, const struct chirp_job *job, const char *line,
                      size_t n);

/** Forget all. */
void chirp_hold_reset(struct chirp *chirp);

/** Add the jobs for the roots. */
void chirp_add_roots(struct chirp *chirp, bool walk);

/** Take a line of the answer to the first job.  @return whether the answer is complete. */
bool chirp_take_line(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink);

#endif
