/* SPDX-License-Identifier: MIT */
#include "os/crossing.h"

#ifdef GM_PROFILE

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Prevent inlining into a caller, and merging with another function. */
#ifdef __clang__
#define OWN __attribute__((noinline))
#else
#define OWN __attribute__((noipa))
#endif

/** Make a system call by an instruction within the calling function. */
__attribute__((always_inline))
static inline long enter(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__) && defined(__LP64__)
	long rc;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(rc)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
#elif defined(__aarch64__) && defined(__LP64__)
	register long x8 __asm__("x8") = number;
	register long rc __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(rc)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
#else
#error "VARIANT=profile supports only x86-64 and arm64"
#endif
	if ((unsigned long)rc < -4095UL)
		return rc;
	return fail((int)-rc);
}

#define BODY(name, result) \
	OWN long sys_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		(void)d, (void)e, (void)f; \
		return result; \
	}
#define ENTER(kind, name) BODY(name, enter(SYS_##name, a, b, c, d, e, f))
#define NOTHING(kind, name)

OS_CALLS(ENTER, NOTHING)
ENTER(ACCESS, faccessat)
ENTER(WRITE, writev)
BODY(clone, ((void)a, (void)b, (void)c, fork()))
BODY(poll, poll((void *)a, (nfds_t)b, (int)c))
BODY(rt_sigprocmask, pthread_sigmask((int)a, (void *)b, (void *)c))
BODY(rt_sigaction, sigaction((int)a, (void *)b, (void *)c))
BODY(rt_sigpending, ((void)b, (void)c, sigpending((void *)a)))

#endif
