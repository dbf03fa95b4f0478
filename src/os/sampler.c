/* SPDX-License-Identifier: MIT */
/*
 * The handler of a timer signal records at which address the thread was interrupted.
 *
 * The address ranges are read beforehand, by dl_iterate_phdr(3), so that the handler only compares
 * and counts: it takes no lock and allocates nothing.  A library that is loaded later counts as
 * OS_AT_LIBRARY.  A signal during a call is delivered when the call ends, while the clock still
 * marks the call.
 */
#include "os/sampler.h"

#include <link.h>
#include <stdatomic.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { RANGES_MAX = 64 };

static struct {
	atomic_bool taken;
	const struct os_clock *clock;
	struct {
		uintptr_t from, to;
		enum os_where where;
	} ranges[RANGES_MAX];
	size_t n;
	volatile uint64_t at[OS_AT_NWHERE];
	bool libc_apart;
	timer_t timer;
	struct sigaction before;
} sampler;

/** The address where the thread was interrupted; 0: unknown. */
static uintptr_t address_of(const void *context)
{
	const ucontext_t *at = context;
#if defined(__x86_64__)
	return at ? (uintptr_t)at->uc_mcontext.gregs[REG_RIP] : 1;
#elif defined(__i386__)
	return at ? (uintptr_t)at->uc_mcontext.gregs[REG_EIP] : 1;
#elif defined(__aarch64__)
	return at ? (uintptr_t)at->uc_mcontext.pc : 1;
#elif defined(__riscv)
	return at ? (uintptr_t)at->uc_mcontext.__gregs[REG_PC] : 1;
#else
	(void)at;
	return 0;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	enum os_where where = OS_AT_LIBRARY;
	uintptr_t at = address_of(context);
	if (sampler.clock->inside) {
		where = OS_AT_CALL;
	} else {
		for (size_t i = 0; i < sampler.n; ++i) {
			if (at >= sampler.ranges[i].from && at < sampler.ranges[i].to) {
				where = sampler.ranges[i].where;
				break;
			}
		}
	}
	sampler.at[where] = sampler.at[where] + 1;
}

/** Record the address ranges of the code of one object. */
static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	bool *first = arg;
	const char *slash = strrchr(info->dlpi_name, '/'),
		   *name = slash ? slash + 1 : info->dlpi_name;
	enum os_where where = OS_AT_LIBRARY;
	if (*first) {
		where = OS_AT_PROGRAM;
	} else if (strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0
	           || strncmp(name, "ld-musl-", 8) == 0) {
		where = OS_AT_LIBC;
		sampler.libc_apart = true;
	}
	*first = false;
	for (unsigned i = 0; i < info->dlpi_phnum && sampler.n < RANGES_MAX; ++i) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		uintptr_t from = (uintptr_t)(info->dlpi_addr + part->p_vaddr);
		sampler.ranges[sampler.n].from = from;
		sampler.ranges[sampler.n].to = from + (uintptr_t)part->p_memsz;
		sampler.ranges[sampler.n++].where = where;
	}
	return 0;
}

int os_sampler_start(const struct os_clock *clock, uint64_t period)
{
	if (!address_of(NULL))
		return fail(ENOSYS);
	if (atomic_exchange(&sampler.taken, true))
		return fail(EBUSY);
	bool first = true;
	sampler.clock = clock;
	sampler.n = 0;
	sampler.libc_apart = false;
	for (int i = 0; i < OS_AT_NWHERE; ++i)
		sampler.at[i] = 0;
	dl_iterate_phdr(note_object, &first);

	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGRTMAX - 1;
	event._sigev_un._tid = gettid();
	struct itimerspec every = {
		.it_interval = {.tv_sec = (time_t)(period / 1000000000),
	                        .tv_nsec = (long)(period % 1000000000)},
	};
	every.it_value = every.it_interval;
	if (sigaction(SIGRTMAX - 1, &action, &sampler.before) != 0)
		goto free;
	if (timer_create(CLOCK_MONOTONIC, &event, &sampler.timer) != 0)
		goto action;
	if (timer_settime(sampler.timer, 0, &every, NULL) == 0)
		return 0;
	timer_delete(sampler.timer);
action:
	sigaction(SIGRTMAX - 1, &sampler.before, NULL);
free:
	atomic_store(&sampler.taken, false);
	return -1;
}

void os_sampler_stop(struct os_samples *samples)
{
	/* No signal is pending afterwards: timer_delete(2) cancels it, or it was delivered when
	   that call returned. */
	timer_delete(sampler.timer);
	sigaction(SIGRTMAX - 1, &sampler.before, NULL);
	for (int i = 0; i < OS_AT_NWHERE; ++i)
		samples->at[i] += sampler.at[i];
	samples->libc_apart = sampler.libc_apart;
	atomic_store(&sampler.taken, false);
}
