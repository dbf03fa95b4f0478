/* SPDX-License-Identifier: MIT */
/** Data and functions shared by the files chirp*.c, the client of Chirp servers. */
#ifndef GM_REMOTE_CHIRP_IMPL_H
#define GM_REMOTE_CHIRP_IMPL_H

#include "remote/chirp.h"

#include "base/intern.h"
#include "select/pattern.h"
#include "select/query.h"

enum {
	CHIRP_LINE = 1024,             /* maximum bytes of a request with its newline; the server
	                                  closes the connection of a client that sends a longer
	                                  line */
	CHIRP_RECORD = TALK_PATH_MAX + 1024,   /* maximum bytes of a record in an answer */
	CHIRP_NAME = 4096,             /* maximum bytes of a name in a listing */
	CHIRP_PATTERN = 64,            /* minimum bytes of a request (CHIRP_LINE) that are available
	                                  for the pattern */
	CHIRP_WINDOW = 64,             /* maximum number of requests that were sent and not
	                                  answered */
	CHIRP_DIRS = 256 << 20,        /* maximum bytes of all jobs, such as directories to be
	                                  listed */
	CHIRP_KEPT = 64 << 20,         /* maximum bytes of entries that are kept because they may be
	                                  below symlinks */
};

/** Flags of the request "search". */
enum {
	CHIRP_STOPATFIRST = 1 << 0, CHIRP_METADATA = 1 << 1,
	CHIRP_ACCESS = SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK,   /* the values of the protocol are
	                                                             those of SEARCH_* */
	/* Flags of getmnt that a client which lists directories does not support. */
	CHIRP_ONLY_SERVER = CHIRP_ACCESS | SEARCH_FOLLOW,
};

/* chirp_pattern.c */

/** Consecutive alternatives of a pattern, which one request can search for. */
struct chirp_part {
	char *wire;                    /* the alternatives as the server gets them */
	struct pattern *pattern;
};

struct chirp_parts {
	struct chirp_part *list;
	size_t n, room;
	bool exact;                    /* the server returns only paths that match the pattern */
};

/** Divide a valid pattern into parts.
    @most  Maximum bytes of a part in a request, at least 1.
    @levels  As in struct talk_request.
    @return 0, or -1.
    Errors: ENOMEM. */
int chirp_parts_init(struct chirp_parts *parts, const char *text, unsigned flags, size_t most,
                     unsigned levels);
void chirp_parts_destroy(struct chirp_parts *parts);

/** Append a path to a request, with special characters as "%HH". */
void chirp_put_path(struct strbuf *out, const char *path);

/* chirp_record.c */

/** A line of an answer to a search. */
struct chirp_record {
	int err, source;               /* errno and SEARCH_ERR_*; err 0: the record is an object */
	const char *path;
	size_t len;
	bool has_st;
	struct k_statx st;
};

enum chirp_reading { CHIRP_PART, CHIRP_WHOLE, CHIRP_WRONG };

/** Whether a line can be the start of a record.  If not, the line continues a name that contains a
    newline. */
bool chirp_starts(const char *line, size_t n);

/** Parse a record.
    @text  The record without its newline; chirp_starts() is true for it.
    @return CHIRP_PART: the record continues in the next line; CHIRP_WRONG: a number is too
    large. */
enum chirp_reading chirp_record_read(const char *text, size_t n, struct chirp_record *record);

/** Parse the attributes of an object: 13 numbers.
    @return CHIRP_PART: the text is not 13 numbers; CHIRP_WRONG: a number is too large. */
enum chirp_reading chirp_stat_read(const char *text, size_t n, struct k_statx *st);

/** Parse a status: 0, or a negative number of at most 4 digits.
    @return the status; 1: the text is not a status. */
int chirp_status_read(const char *text, size_t n);

/** Convert a status of the server to an errno. */
int chirp_errno(int status);

/* chirp.c, chirp_proof.c, chirp_answer.c */

/** The meaning of the next line from the server. */
enum chirp_step {
	STEP_METHOD,     /* whether the server knows the method */
	STEP_CHALLENGE,  /* the file that the client has to create */
	STEP_PROOF,      /* whether the server accepts the proof */
	STEP_ADMITTED,   /* whether this user may connect */
	STEP_KIND,       /* the name of the method that succeeded */
	STEP_NAME,       /* the name of the user that the server determined */
	STEP_ANSWER,
};

enum chirp_kind {
	CHIRP_SEARCH,    /* search a root for a part of the pattern */
	CHIRP_LIST,      /* list a directory */
	CHIRP_ROOT,      /* get the attributes of a root */
	CHIRP_LSTAT,     /* find out whether a directory above a result is a symlink */
};

/** A request of one line. */
struct chirp_job {
	struct chirp_job *next;
	enum chirp_kind kind;
	size_t root;
	size_t part;                   /* index of the part of the pattern; CHIRP_LSTAT: number of
	                                  the directory in chirp_held.dirs */
	unsigned depth;                /* depth of the directory; 0: a root */
	uint64_t dev;                  /* device of the directory; not used for a root */
	size_t len;
	char path[];                   /* path relative to the root, len bytes and a NUL */
};

/** The state of the authentication. */
struct chirp_login {
	struct chirp_auth auth;
	size_t method;                 /* index of the method that is being tried */
	struct strbuf tried;           /* the methods that failed, with reasons, for the message */
};

/** Entries that are kept until it is known which directories above them are symlinks:
    chirp_hold.c. */
struct chirp_held {
	struct strbuf kept;            /* the entries, each a struct kept with its path */
	struct intern dirs;            /* directories above the entries: index of the root, and
	                                  path */
	bool *links;                   /* for each number of a directory: whether it is a symlink */
	bool asked;                    /* the attributes of all directories were requested */
	bool passed;                   /* an object was passed to the sink */
};

/** Invariants: `jobs` are in the order in which they are sent.  The first `waiting` jobs were sent,
    at most CHIRP_WINDOW; `unsent` is the next job, or NULL.  `end` is the address of the last
    pointer of the list, and `held` the size of all jobs.  While no answer is expected there are no
    jobs. */
struct chirp {
	struct talk talk;
	struct chirp_login login;
	enum chirp_step step;
	struct strbuf in;              /* received bytes of an incomplete line */
	size_t looked;                 /* number of bytes at the start of `in` that were searched
	                                  for a newline */

	/* The current search. */
	struct talk_request request;   /* the strings of the request are used only in ask() */
	size_t nroots, nexclude;
	char **roots;                  /* normalized paths of the roots */
	char **names;                  /* the roots as printed, for tests such as -path */
	uint64_t *devs;                /* devices of the roots */
	bool *closed;                  /* for each root: it does not exist, or is not a directory */
	bool follow_roots;
	unsigned wire_flags;
	struct pattern *pattern;
	struct pattern **exclude;
	struct query *query;           /* NULL: no query */
	struct chirp_parts parts;
	uint64_t *live;                /* memory for two sets of states, for the largest of these
	                                  patterns */
	size_t words;                  /* words of a set of states */
	struct intern errors;          /* errors that were passed on; if several requests report an
	                                  error, it is passed on once */
	bool ended;                    /* the search was ended early; the rest of the answer may
	                                  arrive */

	struct chirp_job *jobs, *unsent;
	struct chirp_job **end;
	size_t waiting;                /* jobs sent and not answered */
	size_t held;                   /* bytes of all jobs */
	bool listed;                   /* the last answer was to a CHIRP_LIST */
	bool answering;                /* the status of the first job has been received */
	struct strbuf record;          /* text of an incomplete record or name */
	bool named;                    /* the next line has the attributes of the name in
	                                  `record` */
	struct strbuf path, tested;

	struct chirp_held hold;
};

/** Append a job.
    @path  Relative to the root.
    @return false: the request is too long for a line. */
bool chirp_add_job(struct chirp *chirp, const struct chirp_job *job, const char *path);

/** Request the current method of authentication; fail if all methods were tried. */
void chirp_try_method(struct chirp *chirp);

/** Process a received line in a step before STEP_ANSWER. */
void chirp_take_proof(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink);

/* chirp_hold.c */

/** Pass an entry to the sink, or keep it until it is known that no directory above it is a symlink.
    @dir  The entry is an error for a directory that the server opened, and this directory must not
    be a symlink either. */
void chirp_pass(struct chirp *chirp, const struct chirp_job *job, const struct talk_entry *entry,
                bool dir, struct talk_sink *sink);

/** Continue when all jobs are done: add jobs for the directories above the kept entries, or, after
    their answers, pass on the entries that are not below a symlink. */
void chirp_settle(struct chirp *chirp, struct talk_sink *sink);

/** Process the answer to a CHIRP_LSTAT.
    @line  n bytes, the attributes of the directory. */
void chirp_take_lstat(struct chirp *chirp, const struct chirp_job *job, const char *line,
                      size_t n);

/** Remove all kept entries and their directories. */
void chirp_hold_reset(struct chirp *chirp);

/** Add the jobs for the roots.
    @walk  List directories instead of using the server's search. */
void chirp_add_roots(struct chirp *chirp, bool walk);

/** Process a received line of the answer to the first job.
    @return whether the answer is complete. */
bool chirp_take_line(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink);

#endif
