/* SPDX-License-Identifier: MIT */
/**
 * In a build for gprof, each system call is a function of its own.
 *
 * Private to the files of os/ that count calls, and included last.  Without GM_PROFILE it is
 * empty.  With it, these files enter the kernel through functions named sys_ and the name of
 * os_call_name(): sys_statx(), sys_read().  So gprof counts entries into the kernel, as struct os
 * does: a call that was interrupted is one call of os_read(), and two of sys_read().
 *
 * They enter by an instruction of their own (except the rows LIBRARY).  gprof samples the program
 * counter of the program, and sees no shared library: kernel time is charged to the function that
 * entered, and lost if that is in the C library.
 *
 * gprof counts between the marks (os_mark()), as --stats does.
 *
 * sys_faccessat(), sys_sendto() and sys_writev() count as faccessat2, sendmsg and write.  Calls
 * that are not counted have their name in parentheses where they are made.
 */
#ifndef GM_OS_CROSSING_H
#define GM_OS_CROSSING_H

#ifdef GM_PROFILE

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/** Of the C library, in no header: stop the profile (0), or continue. */
void moncontrol(int on);

/** System calls made by our own instruction: name and number. */
#define CROSSINGS(X) \
	X(statx, SYS_statx)               X(openat, SYS_openat) \
	X(openat2, SYS_openat2)          X(getdents64, SYS_getdents64) \
	X(read, SYS_read)                 X(close, SYS_close) \
	X(readlinkat, SYS_readlinkat)     X(getcwd, SYS_getcwd) \
	X(listmount, SYS_listmount)      X(statmount, SYS_statmount) \
	X(fstatfs, SYS_fstatfs)           X(fcntl, SYS_fcntl) \
	X(prlimit64, SYS_prlimit64)       X(uname, SYS_uname) \
	X(sched_getaffinity, SYS_sched_getaffinity) \
	X(newfstatat, SYS_newfstatat)     X(faccessat2, SYS_faccessat2) \
	X(faccessat, SYS_faccessat)       X(pread64, SYS_pread64) \
	X(write, SYS_write)               X(mkdirat, SYS_mkdirat) \
	X(unlinkat, SYS_unlinkat)         X(socketpair, SYS_socketpair) \
	X(kill, SYS_kill)                 X(wait4, SYS_wait4) \
	X(sendmsg, SYS_sendmsg)           X(sendto, SYS_sendto) \
	X(recvmsg, SYS_recvmsg)           X(shutdown, SYS_shutdown) \
	X(fanotify_init, SYS_fanotify_init) X(fanotify_mark, SYS_fanotify_mark) \
	X(pidfd_open, SYS_pidfd_open)    X(ioctl, SYS_ioctl) \
	X(io_uring_setup, SYS_io_uring_setup) \
	X(io_uring_register, SYS_io_uring_register) \
	X(io_uring_enter, SYS_io_uring_enter) \
	X(mmap, SYS_mmap)                 X(munmap, SYS_munmap) \
	X(syncfs, SYS_syncfs)             X(renameat2, SYS_renameat2) \
	X(linkat, SYS_linkat)             X(symlinkat, SYS_symlinkat) \
	X(fsync, SYS_fsync)               X(fchown, SYS_fchown) \
	X(fchmod, SYS_fchmod)             X(utimensat, SYS_utimensat) \
	X(flock, SYS_flock)               X(flistxattr, SYS_flistxattr) \
	X(fgetxattr, SYS_fgetxattr)       X(fsetxattr, SYS_fsetxattr) \
	X(fremovexattr, SYS_fremovexattr) X(geteuid, SYS_geteuid) \
	X(open_tree, SYS_open_tree)      X(unshare, SYS_unshare) \
	X(fchdir, SYS_fchdir)             X(chroot, SYS_chroot) \
	X(getrusage, SYS_getrusage)       X(writev, SYS_writev)

#define CROSSING(name, number) long sys_##name(long a, long b, long c, long d, long e, long f);
CROSSINGS(CROSSING)
#undef CROSSING

/* LIBRARY: more than a system call, or a different one on other machines. */
int sys_clone(void);
int sys_poll(struct pollfd *fds, nfds_t n, int ms);
int sys_rt_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int sys_rt_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int sys_rt_sigpending(sigset_t *set);

#ifndef GM_CROSSING_BODIES

/* Six words, whatever they are. */
#define CROSS(name, ...) CROSS_(name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CROSS_(name, a, b, c, d, e, f, ...) \
	sys_##name((long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#undef fstat
#undef fstatat
#undef pread
#undef openat
#undef fcntl
#undef getrlimit
#undef setrlimit
#undef fstatfs
#undef mmap

#define openat(...)         ((int)CROSS(openat, __VA_ARGS__))
#define read(...)           ((ssize_t)CROSS(read, __VA_ARGS__))
#define close(fd)           CROSS(close, fd)
#define readlinkat(...)     ((ssize_t)CROSS(readlinkat, __VA_ARGS__))
#define fstatfs(...)        ((int)CROSS(fstatfs, __VA_ARGS__))
#define fcntl(...)          ((int)CROSS(fcntl, __VA_ARGS__))
#define getrlimit(of, to)   ((int)CROSS(prlimit64, 0, of, 0, to))
#define setrlimit(of, from) ((int)CROSS(prlimit64, 0, of, from))
#define uname(...)          ((int)CROSS(uname, __VA_ARGS__))
/* The kernel tells how many bytes it has written; the set is all of 0 before. */
#define sched_getaffinity(pid, size, set) \
	(memset(set, 0, size), CROSS(sched_getaffinity, pid, size, set) < 0 ? -1 : 0)
#define fstatat(...)        ((int)CROSS(newfstatat, __VA_ARGS__))
#define fstat(fd, st)       ((int)CROSS(newfstatat, fd, "", st, AT_EMPTY_PATH))
#define pread(...)          ((ssize_t)CROSS(pread64, __VA_ARGS__))
#define write(...)          ((ssize_t)CROSS(write, __VA_ARGS__))
#define writev(...)         ((ssize_t)CROSS(writev, __VA_ARGS__))
#define mkdirat(...)        ((int)CROSS(mkdirat, __VA_ARGS__))
#define unlinkat(...)       ((int)CROSS(unlinkat, __VA_ARGS__))
#define socketpair(...)     ((int)CROSS(socketpair, __VA_ARGS__))
#define kill(...)           ((int)CROSS(kill, __VA_ARGS__))
#define waitpid(...)        ((pid_t)CROSS(wait4, __VA_ARGS__))
#define sendmsg(...)        ((ssize_t)CROSS(sendmsg, __VA_ARGS__))
#define send(...)           ((ssize_t)CROSS(sendto, __VA_ARGS__))
#define recvmsg(...)        ((ssize_t)CROSS(recvmsg, __VA_ARGS__))
#define shutdown(...)       ((int)CROSS(shutdown, __VA_ARGS__))
#define fanotify_init(...)  ((int)CROSS(fanotify_init, __VA_ARGS__))
#define fanotify_mark(...)  ((int)CROSS(fanotify_mark, __VA_ARGS__))
#define ioctl(...)          ((int)CROSS(ioctl, __VA_ARGS__))
#define mmap(...)           ((void *)CROSS(mmap, __VA_ARGS__))
#define munmap(...)         CROSS(munmap, __VA_ARGS__)
#define syncfs(...)         ((int)CROSS(syncfs, __VA_ARGS__))
#define renameat2(...)      ((int)CROSS(renameat2, __VA_ARGS__))
#define linkat(...)         ((int)CROSS(linkat, __VA_ARGS__))
#define symlinkat(...)      ((int)CROSS(symlinkat, __VA_ARGS__))
#define fsync(...)          ((int)CROSS(fsync, __VA_ARGS__))
#define fchown(...)         ((int)CROSS(fchown, __VA_ARGS__))
#define fchmod(...)         ((int)CROSS(fchmod, __VA_ARGS__))
#define futimens(fd, times) ((int)CROSS(utimensat, fd, 0, times))
#define utimensat(...)      ((int)CROSS(utimensat, __VA_ARGS__))
#define unshare(what)       ((int)CROSS(unshare, what))
#define fchdir(fd)          ((int)CROSS(fchdir, fd))
#define chroot(path)        ((int)CROSS(chroot, path))
#define getrusage(...)      ((int)CROSS(getrusage, __VA_ARGS__))
#define flock(...)          ((int)CROSS(flock, __VA_ARGS__))
#define flistxattr(...)     ((ssize_t)CROSS(flistxattr, __VA_ARGS__))
#define fgetxattr(...)      ((ssize_t)CROSS(fgetxattr, __VA_ARGS__))
#define fsetxattr(...)      ((int)CROSS(fsetxattr, __VA_ARGS__))
#define fremovexattr(...)   ((int)CROSS(fremovexattr, __VA_ARGS__))
#define geteuid()           ((uid_t)CROSS(geteuid, 0))

#define fork()                   sys_clone()
#define poll(fds, n, ms)         sys_poll(fds, n, ms)
#define pthread_sigmask(...)     sys_rt_sigprocmask(__VA_ARGS__)
#define sigaction(...)           sys_rt_sigaction(__VA_ARGS__)
#define sigpending(set)          sys_rt_sigpending(set)

/* By its number: a row for each that is made so. */
#define syscall(number, ...) CROSS_BY_##number(__VA_ARGS__)
#define CROSS_BY_SYS_statx(...)              CROSS(statx, __VA_ARGS__)
#define CROSS_BY_SYS_close(...)              CROSS(close, __VA_ARGS__)
#define CROSS_BY_SYS_getdents64(...)         CROSS(getdents64, __VA_ARGS__)
#define CROSS_BY_SYS_getcwd(...)             CROSS(getcwd, __VA_ARGS__)
#define CROSS_BY_SYS_faccessat(...)          CROSS(faccessat, __VA_ARGS__)
#define CROSS_BY_K_NR_faccessat2(...)        CROSS(faccessat2, __VA_ARGS__)
#define CROSS_BY_K_NR_openat2(...)           CROSS(openat2, __VA_ARGS__)
#define CROSS_BY_K_NR_open_tree(...)         CROSS(open_tree, __VA_ARGS__)
#define CROSS_BY_K_NR_listmount(...)         CROSS(listmount, __VA_ARGS__)
#define CROSS_BY_K_NR_statmount(...)         CROSS(statmount, __VA_ARGS__)
#define CROSS_BY_K_NR_pidfd_open(...)        CROSS(pidfd_open, __VA_ARGS__)
#define CROSS_BY_K_NR_io_uring_setup(...)    CROSS(io_uring_setup, __VA_ARGS__)
#define CROSS_BY_K_NR_io_uring_register(...) CROSS(io_uring_register, __VA_ARGS__)
#define CROSS_BY_K_NR_io_uring_enter(...)    CROSS(io_uring_enter, __VA_ARGS__)

#endif
#endif
#endif
