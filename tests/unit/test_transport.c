/* SPDX-License-Identifier: MIT */
/*
 * What the library promises about other hosts: the caller's transport is called once for each, its
 * connections and processes end with the search, in the process that opened it.
 */
#include "unit.h"

#include "getmnt/search.h"
#include "remote/wire.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { HANG = 20, SERVERS = 4 };

/** A transport whose servers have answered before they are asked. */
struct canned {
	struct search_transport transport;
	struct strbuf answer;
	int error;                 /* of connect() */
	bool process;              /* each connection has a process, which only sleeps */
	int calls;
	char called[SERVERS][64];  /* what each was asked for */
	int ends[SERVERS];         /* the servers' ends */
	pid_t pids[SERVERS];
};

static int connect_canned(void *arg, const struct search_server *server, struct search_link *link)
{
	struct canned *canned = arg;
	int pair[2], n = canned->calls++;
	snprintf(canned->called[n], sizeof(canned->called[n]), "%s %s %s %u %u %d", server->scheme,
	         server->user ? server->user : "-", server->host, server->port, server->timeout,
	         server->alone);
	if (canned->error)
		return errno = canned->error, -1;
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	CU_ASSERT_EQUAL(write(pair[1], strbuf_str(&canned->answer), canned->answer.len),
	                (ssize_t)canned->answer.len);
	*link = (struct search_link){.fd = pair[0], .errors = -1};
	canned->ends[n] = pair[1];
	if (canned->process) {
		link->pid = canned->pids[n] = fork();
		if (link->pid == 0)
			for (;;)
				pause();
	}
	return 0;
}

/** A transport that answers with these entries, and ends if `ends`. */
static void begin(struct canned *canned, const struct talk_entry *entries, size_t n, bool ends)
{
	*canned = (struct canned){.transport = {connect_canned, canned, 7}};
	wire_greet(&canned->answer);
	size_t place = wire_begin(&canned->answer, WIRE_ENTRIES);
	for (size_t i = 0; i < n; ++i)
		wire_put_entry(&canned->answer, &entries[i]);
	wire_finish(&canned->answer, place);
	if (ends)
		wire_put_end(&canned->answer, &(struct search_counts){.dirs = 3, .entries = 5}, 0);
	for (int i = 0; i < SERVERS; ++i)
		canned->ends[i] = -1;
	alarm(HANG);
}

/** Free it, and check that its processes are gone. */
static void end(struct canned *canned)
{
	for (int i = 0; i < SERVERS; ++i) {
		if (canned->pids[i])
			CU_ASSERT_TRUE(kill(canned->pids[i], 0) != 0 && errno == ESRCH);
		if (canned->ends[i] >= 0) {
			/* What was sent, and the end. */
			char bytes[4096];
			while (read(canned->ends[i], bytes, sizeof(bytes)) > 0)
				;
			close(canned->ends[i]);
		}
	}
	strbuf_destroy(&canned->answer);
	alarm(0);
}

static struct getmnt_search *start(const struct canned *canned, const char *const roots[],
                                   size_t n, int flags)
{
	return getmnt_search_open(roots, n, "*", &(struct search_options){
		.size = sizeof(struct search_options), .flags = flags,
		.transport = canned ? &canned->transport : NULL,
	});
}

/** The lowest free descriptor. */
static int free_descriptor(void)
{
	int fd = dup(0);
	close(fd);
	return fd;
}

UNIT_TEST(none)
{
	const char *const roots[] = {"ssh://h/x"};
	struct getmnt_search *search = start(NULL, roots, 1, 0);
	struct searchent *e = getmnt_search_read(search);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_TRUE(e->err == ENOENT && e->errsource == SEARCH_ERR_OPEN);
	CU_ASSERT_STRING_EQUAL(e->path, "ssh://h/x");
	CU_ASSERT_PTR_NULL(getmnt_search_why(search));
	CU_ASSERT_TRUE(!getmnt_search_read(search) && errno == 0);
	getmnt_search_close(search);
	CU_ASSERT_PTR_NULL(getmnt_search_why(NULL));
}

UNIT_TEST(entries)
{
	struct canned canned;
	const struct k_statx st = {.mode = S_IFREG | 0640, .size = 12, .ino = 34};
	const struct talk_entry entries[] = {
		{.path = "/a/b", .len = 4, .type = DT_REG, .st = &st},
		{.path = "", .err = EACCES, .errsource = SEARCH_ERR_READ},
		{.path = "/c", .len = 2, .err = EIO, .errsource = SEARCH_ERR_STAT},
	};
	static const char *const paths[2][3] = {
		{"/a/b", "ssh://u@h:22/x/", "ssh://u@h:22/x/c"},
		{"ssh://u@h:22/x/a/b", "ssh://u@h:22/x/", "ssh://u@h:22/x/c"},
	};
	const char *const roots[] = {"ssh://u@h:22/x/"};
	int fd = free_descriptor();
	for (int i = 0; i < 2; ++i) {
		struct search_counts counts;
		begin(&canned, entries, COUNT(entries), true);
		struct getmnt_search *search = start(&canned, roots, 1,
		                       SEARCH_METADATA | (i ? SEARCH_INCLUDEROOT : 0));
		CU_ASSERT_EQUAL(canned.calls, 0);
		for (size_t k = 0; k < COUNT(entries); ++k) {
			struct searchent *e = getmnt_search_read(search);
			CU_ASSERT_PTR_NOT_NULL_FATAL(e);
			CU_ASSERT_STRING_EQUAL(e->path, paths[i][k]);
			CU_ASSERT_EQUAL(e->err, entries[k].err);
			CU_ASSERT_EQUAL(e->errsource, entries[k].errsource);
			CU_ASSERT_EQUAL(e->info != NULL, k == 0);
			if (e->info)
				CU_ASSERT_TRUE(e->info->st_size == 12 && e->info->st_ino == 34
				               && e->info->st_mode == (S_IFREG | 0640));
			CU_ASSERT_PTR_NULL(getmnt_search_why(search));
		}
		CU_ASSERT_TRUE(!getmnt_search_read(search) && errno == 0);
		getmnt_search_count(search, &counts, sizeof(counts));
		CU_ASSERT_TRUE(counts.dirs == 3 && counts.entries == 5 && counts.found == 1
		               && counts.errors == 2);
		getmnt_search_close(search);
		CU_ASSERT_STRING_EQUAL(canned.called[0], "ssh u h 22 7 1");
		end(&canned);
	}
	CU_ASSERT_EQUAL(free_descriptor(), fd);
}

UNIT_TEST(refused)
{
	struct canned canned;
	const char *const roots[] = {"ssh://a/1", "ssh://b/2", "ssh://a/3", "ssh://-c/4"};
	begin(&canned, NULL, 0, true);
	canned.error = EPERM;
	struct getmnt_search *search = start(&canned, roots, 4, 0);
	unsigned seen = 0;
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		int i = e->path[strlen(e->path) - 1] - '1';
		CU_ASSERT_STRING_EQUAL(e->path, roots[i]);
		CU_ASSERT_EQUAL(e->err, i == 3 ? EINVAL : EPERM);
		CU_ASSERT_EQUAL(e->errsource, SEARCH_ERR_HOST);
		CU_ASSERT_PTR_NOT_NULL_FATAL(getmnt_search_why(search));
		CU_ASSERT_PTR_NOT_NULL(strstr(getmnt_search_why(search),
		                              i == 3 ? "host is not valid"
		                              : "Operation not permitted"));
		seen |= 1u << i;
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_EQUAL(seen, 15);
	CU_ASSERT_EQUAL(canned.calls, 2);
	CU_ASSERT_STRING_EQUAL(canned.called[1], "ssh - b 0 7 0");
	getmnt_search_close(search);
	end(&canned);
}

static void *cancel_soon(void *search)
{
	usleep(50 * 1000);
	getmnt_search_cancel(search);
	return NULL;
}

UNIT_TEST(cancelled)
{
	struct canned canned;
	const struct talk_entry entry = {.path = "/a", .len = 2};
	const char *const roots[] = {"ssh://h/x", "ssh://g/x"};
	pthread_t thread;
	int fd = free_descriptor();
	begin(&canned, &entry, 1, false);
	canned.process = true;
	struct getmnt_search *search = start(&canned, roots, 2, 0);
	CU_ASSERT_PTR_NOT_NULL(getmnt_search_read(search));
	CU_ASSERT_PTR_NOT_NULL(getmnt_search_read(search));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_soon, search), 0);
	CU_ASSERT_TRUE(!getmnt_search_read(search) && errno == ECANCELED);
	pthread_join(thread, NULL);
	getmnt_search_close(search);
	end(&canned);
	CU_ASSERT_EQUAL(free_descriptor(), fd);
}

UNIT_TEST(forked)
{
	struct canned canned;
	const struct talk_entry entries[] = {{.path = "/a", .len = 2}, {.path = "/b", .len = 2}};
	const char *const roots[] = {"ssh://h/x"};
	int status;
	begin(&canned, entries, 2, true);
	canned.process = true;
	struct getmnt_search *search = start(&canned, roots, 1, 0);
	CU_ASSERT_PTR_NOT_NULL(getmnt_search_read(search));
	pid_t child = fork();
	if (child == 0) {
		bool refused = !getmnt_search_read(search) && errno == ECHILD;
		getmnt_search_close(search);
		_exit(!refused);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	/* The child has not ended what is its parent's. */
	CU_ASSERT_EQUAL(kill(canned.pids[0], 0), 0);
	struct searchent *e = getmnt_search_read(search);
	CU_ASSERT_TRUE(e && strcmp(e->path, "/b") == 0);
	CU_ASSERT_TRUE(!getmnt_search_read(search) && errno == 0);
	getmnt_search_close(search);
	end(&canned);
}
