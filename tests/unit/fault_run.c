/* SPDX-License-Identifier: MIT */
/* Runs of the command with faults: see fault_run.h. */
#include "fault_run.h"

#include "base/words.h"
#include "unit.h"

#include "cmd/cmd.h"
#include "mounttree.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Runs. */

/** Files in memory for stdout and stderr of a run; descriptors 1 and 2 are kept for sanitizers. */
static FILE *captured[2], *saved[2];

static void capture_begin(void)
{
	saved[0] = stdout;
	saved[1] = stderr;
	for (int i = 0; i < 2; ++i) {
		fflush(saved[i]);
		if (!captured[i])
			captured[i] = fdopen(memfd_create("fault", MFD_CLOEXEC), "w");
		CU_ASSERT_PTR_NOT_NULL_FATAL(captured[i]);
		rewind(captured[i]);
		CU_ASSERT_EQUAL_FATAL(ftruncate(fileno(captured[i]), 0), 0);
	}
	stdout = captured[0];
	stderr = captured[1];
}

/** @return the output, to be freed. */
static char *capture_take(int i, size_t *len)
{
	fflush(captured[i]);
	clearerr(captured[i]);
	off_t n = lseek(fileno(captured[i]), 0, SEEK_END);
	char *text = malloc((size_t)n + 1);
	CU_ASSERT_TRUE_FATAL(text && pread(fileno(captured[i]), text, (size_t)n, 0) == n);
	text[n] = '\0';
	*len = (size_t)n;
	return text;
}

static void capture_end(struct outcome *got)
{
	stdout = saved[0];
	stderr = saved[1];
	got->out = capture_take(0, &got->out_len);
	got->err = capture_take(1, &got->err_len);
}

/** Parse a document, if it is one. */
static void outcome_parse(struct outcome *o)
{
	size_t i;
	json_t *mount, *document = o->document = json_loads(o->out, 0, NULL),
	                *list = json_object_get(document, "filesystems");
	o->complete = json_is_true(json_object_get(document, "complete"));
	o->reasons = json_array_size(json_object_get(document, "incomplete_reasons")) > 0;
	o->rows = calloc(json_array_size(list) + 1, sizeof(*o->rows));
	CU_ASSERT_PTR_NOT_NULL_FATAL(o->rows);
	json_array_foreach(list, i, mount) {
		struct told *row = &o->rows[o->nrows++];
#define INTEGER(key) (uint32_t)json_integer_value(json_object_get(mount, key))
#define STRING(key) json_string_value(json_object_get(mount, key))
		*row = (struct told){
			.id = INTEGER("id"), .covered_by = INTEGER("covered-by"),
			.target = STRING("target"), .fstype = STRING("fstype"),
			.source = STRING("source"), .options = STRING("options"),
		};
		json_t *states = json_object_get(mount, "states");
		for (size_t k = 0; k < json_array_size(states); ++k) {
			const char *name = json_string_value(json_array_get(states, k));
			for (enum mt_state s = 0; s < MT_NSTATES; ++s) {
				if (strcmp(name, mtree_state_name(s)) == 0)
					row->states |= 1u << s;
			}
		}
	}
}

/** Text that comes through a pipe. */
struct input {
	const char *text;
	int fd;
	bool slow;
};

static void *input_write(void *arg)
{
	const struct input *input = arg;
	size_t n = strlen(input->text);
	if (input->slow) {
		fault_exempt();
		usleep(2000);
	}
	/* The reader may have gone. */
	if (write(input->fd, input->text, n) != (ssize_t)n && errno != EPIPE)
		abort();
	close(input->fd);
	return NULL;
}

/** Write a text to standard input, at once or late.  @return the old standard input. */
static int input_begin(struct input *input, pthread_t *writer)
{
	int ends[2], before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	input->fd = ends[1];
	signal(SIGPIPE, SIG_IGN);
	if (!input->slow)
		input_write(input);
	else if (pthread_create(writer, NULL, input_write, input) != 0)
		abort();
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	return before;
}

static void input_end(const struct input *input, pthread_t writer, int before)
{
	dup2(before, STDIN_FILENO);
	close(before);
	if (input->slow)
		pthread_join(writer, NULL);
}

/** Whether a child process is left after two seconds. */
static bool children_left(void)
{
	for (int i = 0; i < 2000; ++i) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0)
			return false;
		if (pid == 0)
			usleep(1000);
	}
	return true;
}

void scenario_run(const struct scenario *scenario, const struct fault *fault, uint64_t limit,
                  struct outcome *got)
{
	static char words[16][128];
	char *argv[17] = {words[0]};
	int argc = 1, before = -1;
	struct input input = {.text = scenario->input, .slow = scenario->flags & SC_SLOW};
	pthread_t writer = 0;
	outcome_free(got);
	strcpy(words[0], "getmnt");
	for (; scenario->args[argc - 1]; ++argc) {
		if (strcmp(scenario->args[argc - 1], "--task=self") == 0)
			snprintf(words[argc], sizeof(words[argc]), "--task=%d", (int)getpid());
		else
			snprintf(words[argc], sizeof(words[argc]), "%s", scenario->args[argc - 1]);
		argv[argc] = words[argc];
	}
	argv[argc] = NULL;
	if (scenario->disable)
		setenv("GETMNT_DISABLE", scenario->disable, 1);
	if (input.text)
		before = input_begin(&input, &writer);
	capture_begin();
	fault_begin(fault, limit);
	got->status = cmd_discover(argc, argv);
	fault_end(&got->count);
	capture_end(got);
	world_release();
	got->children = got->count.calls[OS_FORK] > 0 && children_left();
	if (input.text)
		input_end(&input, writer, before);
	if (scenario->disable)
		unsetenv("GETMNT_DISABLE");
	if (!(scenario->flags & SC_ANY_FORM))
		outcome_parse(got);
}

void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
	free(o->rows);
	json_decref(o->document);
	*o = (struct outcome){0};
}

/* The verdict. */

/** Whether an error is a refusal. */
static bool is_refusal(int error)
{
	return error == EACCES || error == EPERM;
}

/** Whether an error is one of this process, not of the file. */
static bool is_ours(int error)
{
	static const int ours[] = {EINTR, EAGAIN, ENOMEM, EMFILE, ENFILE, EINVAL, EBADF, EFAULT,
	                           EOVERFLOW, ENOSYS, 0};
	size_t i = 0;
	while (ours[i] && ours[i] != error)
		++i;
	return ours[i];
}

/** Whether an error means that the path does not exist. */
static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
}

/** The n-th row with an ID. */
static const struct told *find_row(const struct outcome *o, uint32_t id, size_t n)
{
	for (size_t i = 0; i < o->nrows; ++i) {
		if (o->rows[i].id == id && n-- == 0)
			return &o->rows[i];
	}
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/** Check the row of one mount: it may only have less than without the fault. */
static const char *judge_row(const struct scenario *scenario, const struct fault *fault,
                             const struct told *base, const struct told *got, bool complete,
                             bool probed)
{
	static const struct {
		enum mt_state state;
		const char *wrong;
	} never[] = {
		{MT_LOST, "a mount is reported as lost"},
		{MT_HIDDEN, "a mount is reported as hidden"},
		{MT_DELETED, "a mount is reported as deleted"},
		{MT_OUTSIDE, "a mount is reported as outside"},
		{MT_OK, "a mount is reported as ok that is not"},
	};
	unsigned more = got->states & ~base->states;
	if (got->states == 0)
		return "a mount without a state";
	/* The kernel reported that the directories above the mount were removed. */
	if (fault->kind == OS_GETDENTS && fault->error == ENOENT)
		more &= ~(1u << MT_LOST);
	for (size_t i = 0; i < COUNT(never); ++i) {
		if (more & 1u << never[i].state)
			return never[i].wrong;
	}
	/* A process that cannot be killed, or examined, counts as one that still waits. */
	if (more & 1u << MT_HUNG && !(scenario->flags & SC_HASTE) && fault->kind != OS_KILL)
		return "a mount is reported as hung";
	if (more & 1u << MT_DENIED && !is_refusal(fault->error))
		return "a mount is reported as denied, and nothing was refused";
	/* For the prober a root that does not exist is stale too. */
	bool alive = is_refusal(fault->error) || is_ours(fault->error)
	             || (is_absence(fault->error) && !probed);
	if (more & 1u << MT_STALE && alive)
		return "a mount is reported as stale, and nothing is dead";
	if (more & 1u << MT_UNSEARCHED && complete)
		return "a mount is unsearched, and the whole said to be complete";
	if (got->target && !same_text(got->target, base->target))
		return "a mount has another name";
	if (!got->target && base->target && complete)
		return "a mount has no name, and the whole is reported as complete";
	if (got->covered_by && got->covered_by != base->covered_by)
		return "a mount is reported as covered by another";
	if ((got->fstype && !same_text(got->fstype, base->fstype))
	    || (got->source && !same_text(got->source, base->source))
	    || (got->options && !same_text(got->options, base->options)))
		return "a mount has another type, source or options";
	return NULL;
}

/** Whether the kernel reported that a mount is gone. */
static bool says_gone(const struct fault *fault)
{
	return fault->kind == OS_STATMOUNT && fault->error == ENOENT;
}

static const char *judge_rows(const struct scenario *scenario, const struct fault *fault,
                              const struct outcome *base, const struct outcome *got)
{
	for (size_t i = 0; i < base->nrows; ++i) {
		size_t before = 0;
		for (size_t k = 0; k < i; ++k)
			before += base->rows[k].id == base->rows[i].id;
		const struct told *row = find_row(got, base->rows[i].id, before);
		if (!row && says_gone(fault))
			continue;
		if (!row)
			return "a mount is missing";
		const char *wrong = judge_row(scenario, fault, &base->rows[i], row, got->complete,
		                              base->count.calls[OS_FORK] > 0);
		if (wrong)
			return wrong;
	}
	return got->nrows > base->nrows ? "a mount that does not exist" : NULL;
}

/** Check an error message. */
static const char *judge_message(const struct outcome *got)
{
	if (got->out_len > 0)
		return "status 1, and something was printed";
	const char *text = got->err;
	if (strncmp(text, "getmnt: ", 8) != 0 || got->err[got->err_len - 1] != '\n')
		return "status 1 without a message";
	/* Lack of memory has no object. */
	return strstr(text + 8, ": ")
	       || strstr(text, "memory") ? NULL : "a message that names no object";
}

/** Whether the run may fail: the table, its watch, the root, the task or memory is missing. */
static bool is_needed(const struct scenario *scenario, const struct fault *fault,
                      const struct outcome *got)
{
	static const char *const needed[] = {"/proc/self/mountinfo", "mountinfo", "root", "/", "",
	                                     ".", "/table", "/tab"};
	char task[32];
	snprintf(task, sizeof(task), "/proc/%d", (int)getpid());
	const char *path = got->count.path;
	if (fault->error == ENOMEM || fault->kind == OS_READ || fault->kind == OS_POLL
	    || fault->kind == OS_GETCWD
	    || fault->mode == FAULT_ON || scenario->flags & SC_SILENT
	    || (fault->kind == OS_FSTAT && !path))
		return true;
	for (size_t i = 0; path && i < COUNT(needed); ++i) {
		if (strcmp(path, needed[i]) == 0)
			return true;
	}
	for (size_t i = 0; path && scenario->args[i]; ++i) {
		const char *given = strchr(scenario->args[i], '/');
		if (given && word_below(given, path))
			return true;
	}
	return path && strcmp(path, task) == 0;
}

/** Check a run with a fault.  @return NULL, or the problem. */
static const char *outcome_judge(const struct scenario *scenario, const struct fault *fault,
                                 const struct outcome *base, const struct outcome *got)
{
	if (got->count.blocks)
		return "memory is left";
	if (got->count.fds)
		return "descriptors are left";
	if (got->count.threads)
		return "threads are left";
	if (got->children)
		return "processes are left";
	if (got->count.bad_closes)
		return "a descriptor that was not open is closed";
	if (world_triggered())
		return "an automount was triggered";
	if (got->status == CX_ERROR && base->status != CX_ERROR)
		return is_needed(scenario, fault, got) ? judge_message(got)
		       : "no answer after a minor failure";
	if (got->out_len == base->out_len && memcmp(got->out, base->out, got->out_len) == 0)
		return got->status == base->status || ((scenario->flags & SC_ANY_FORM)
		                                       && got->status == CX_INCOMPLETE)
		       ? NULL : "the same answer, and another status";
	if ((scenario->flags & SC_ANY_FORM))
		return got->status == CX_INCOMPLETE || fault->kind != FAULT_ALLOC
		       ? NULL : "another answer, not marked as incomplete";
	if (got->out_len < 4 || strcmp(got->out + got->out_len - 3, "\n}\n") != 0)
		return "a document that is cut";
	if (got->status != (!got->complete ? CX_INCOMPLETE : base->complete ? base->status : CX_OK))
		return "the status and the document differ";
	if (!got->complete && !got->reasons)
		return "incomplete without a reason";
	return judge_rows(scenario, fault, base, got);
}

/* Trials. */

enum {
	SHOWN_WRONG = 8,
	RUN_SECONDS = 30,     /* a run that takes longer hangs */
};

/** Check that fault.c sees the calls that struct os counts. */
static void check_counts(const struct scenario *scenario)
{
	const char *args[16];
	int n = 0;
	for (; scenario->args[n]; ++n)
		args[n] = scenario->args[n];
	args[n++] = "--stats=json";
	args[n] = NULL;
	struct scenario counted = *scenario;
	struct outcome got = {0};
	counted.args = args;
	scenario_run(&counted, NULL, 1000000, &got);
	for (enum os_call call = 0; call < OS_NCALLS; ++call) {
		char key[32];
		snprintf(key, sizeof(key), "\"%s\":", os_call_name(call));
		const char *at = strstr(got.err, key);
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		/* Some descriptors are closed after the counts are printed; a process that ends may
		   not report its last calls. */
		uint64_t counts = strtoull(at + strlen(key), NULL, 10);
		bool probes = got.count.calls[OS_FORK] > 0;
		if (call == OS_CLOSE || probes ? counts > got.count.calls[call]
		                               : counts != got.count.calls[call]) {
			printf("  %s: %s: %llu counted, %llu seen\n", scenario->name,
			       os_call_name(call), (unsigned long long)counts,
			       (unsigned long long)got.count.calls[call]);
			CU_FAIL("calls pass by fault.c");
		}
	}
	outcome_free(&got);
}

static unsigned outcome_hung(const struct outcome *outcome)
{
	unsigned n = 0;
	for (size_t i = 0; i < outcome->nrows; ++i)
		n += outcome->rows[i].states >> MT_HUNG & 1;
	return n;
}

/** With a short timeout any mount may seem hung: keep the best of a few runs. */
static void keep_best(struct trial *trial)
{
	enum { RUNS = 4 };
	for (int i = 0; i < RUNS; ++i) {
		scenario_run(trial->scenario, NULL, 1000000, &trial->got);
		if (outcome_hung(&trial->got) < outcome_hung(&trial->base)) {
			struct outcome better = trial->got;
			trial->got = trial->base;
			trial->base = better;
		}
	}
}

bool trial_begin(struct trial *trial, const struct scenario *scenario)
{
	const char *only = getenv("GETMNT_FAULT_ONLY");
	if (only && strcmp(only, scenario->name) != 0)
		return false;
	*trial = (struct trial){.scenario = scenario};
	check_counts(scenario);
	scenario_run(scenario, NULL, 1000000, &trial->base);
	if (scenario->flags & SC_HASTE)
		keep_best(trial);
	const struct fault_count *count = &trial->base.count;
	CU_ASSERT_TRUE(count->blocks == 0 && count->fds == 0 && count->threads == 0);
	CU_ASSERT_TRUE(trial->base.status != CX_ERROR);
	CU_ASSERT_TRUE(trial->base.out_len > 0 || scenario->flags & SC_SILENT);
	/* Calls are repeated up to 32 times, and the table is read up to three times. */
	trial->limit = count->kernel * 100 + 5000;
	/* A wait that always fails is repeated until its timeout. */
	if (scenario->flags & SC_SILENT)
		trial->limit += 1000000;
	return true;
}

void trial_run(struct trial *trial, const struct fault *fault)
{
	static const char *const modes[] = {
		[FAULT_NONE] = "none", [FAULT_ONCE] = "once", [FAULT_ON] = "and on",
		               [FAULT_SHORT] = "short",
	};
	if (trial->faults++ % unit_step() != 0)
		return;
	++trial->runs;
	char what[128];
	snprintf(what, sizeof(what), "%s: %s %llu %s: %s", trial->scenario->name,
	         fault_kind_name(fault->kind), (unsigned long long)fault->n, modes[fault->mode],
	         strerrorname_np(fault->error));
	unit_note("%s", what);
	alarm(RUN_SECONDS);
	scenario_run(trial->scenario, fault, trial->limit, &trial->got);
	const struct outcome *got = &trial->got;
	const char *wrong = outcome_judge(trial->scenario, fault, &trial->base, got);
	if (!wrong)
		return;
	CU_FAIL("a run with a fault");
	if (trial->wrong++ >= SHOWN_WRONG)
		return;
	printf("  %s: status %d: %s\n", what, got->status, wrong);
	if (got->err_len)
		printf("    %.*s\n", (int)strcspn(got->err, "\n"), got->err);
}

unsigned long trial_end(struct trial *trial)
{
	if (trial->wrong > SHOWN_WRONG)
		printf("  %s: and %lu more\n", trial->scenario->name, trial->wrong - SHOWN_WRONG);
	outcome_free(&trial->base);
	outcome_free(&trial->got);
	unit_note("%s", "");
	alarm(SUITE_SECONDS);
	return trial->runs;
}
