/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A filter of system calls by libseccomp (confine.h), in two lists: what the daemon needs, and
 * what ends it. All others fail with an error.
 */
#include "daemon/confine.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <seccomp.h>

#ifdef IBCC_SANITIZED
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* The system calls that the daemon needs, by purpose. The unit's SystemCallFilter has all of these
 * but the chown family. Only root uses that, to give a new state file to the folder's owner. Names
 * that an architecture does not have are skipped.
 */
static const char *const allowed[] = {
	/* memory, threads and signals: the C library */
	"brk",
	"mmap",
	"mmap2",
	"munmap",
	"mremap",
	"mprotect",
	"madvise",
	"futex",
	"futex_time64",
	"futex_waitv",
	"set_robust_list",
	"set_tid_address",
	"rseq",
	"arch_prctl",
	"membarrier",
	"sched_yield",
	"sched_getaffinity",
	"sched_getparam",
	"sched_getscheduler",
	"sched_get_priority_max",
	"sched_get_priority_min",
	"getcpu",
	"exit",
	"exit_group",
	"restart_syscall",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigtimedwait",
	"sigaltstack",
	"tgkill",
	"gettid",
	"getpid",
	"getppid",
	"prctl",
	"getrandom",
	"sysinfo",
	"uname",
	"getrusage",
	"getrlimit",
	"prlimit64",
	"times",
	/* clocks, and timers of the event loop */
	"clock_gettime",
	"clock_gettime64",
	"clock_getres",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"time",
	"timerfd_create",
	"timerfd_settime",
	"timerfd_gettime",
	/* waiting */
	"epoll_create",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"poll",
	"ppoll",
	"select",
	"_newselect",
	"pselect6",
	"eventfd2",
	"signalfd4",
	"inotify_init1",
	"inotify_add_watch",
	"inotify_rm_watch",
	"pipe",
	"pipe2",
	/* files: configuration, keys, the state file and its journal, locks, bundles, /proc and
	   /sys */
	"open",
	"openat",
	"close",
	"close_range",
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"pwrite64",
	"lseek",
	"_llseek",
	"fsync",
	"fdatasync",
	"ftruncate",
	"ftruncate64",
	"fallocate",
	"fcntl",
	"fcntl64",
	"flock",
	"stat",
	"fstat",
	"lstat",
	"stat64",
	"fstat64",
	"newfstatat",
	"fstatat64",
	"statx",
	"statfs",
	"fstatfs",
	"access",
	"faccessat",
	"faccessat2",
	"readlink",
	"readlinkat",
	"getdents",
	"getdents64",
	"getcwd",
	"unlink",
	"unlinkat",
	"rename",
	"renameat",
	"renameat2",
	"link",
	"linkat",
	"mkdir",
	"mkdirat",
	"rmdir",
	"chmod",
	"fchmod",
	"fchmodat",
	"chown",
	"fchown",
	"fchownat",
	"lchown",
	"umask",
	"utimensat",
	"dup",
	"dup2",
	"dup3",
	"sendfile",
	/* the MAD device */
	"ioctl",
	/* sockets: the control socket, the plugin's, metrics, systemd's, the journal's, and the
	   name service's */
	"socket",
	"socketpair",
	"bind",
	"listen",
	"accept",
	"accept4",
	"connect",
	"getsockname",
	"getpeername",
	"getsockopt",
	"setsockopt",
	"sendto",
	"sendmsg",
	"sendmmsg",
	"recvfrom",
	"recvmsg",
	"recvmmsg",
	"shutdown",
	"memfd_create",
	/* our own user, and whether the process in another daemon's record is alive */
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getuid32",
	"geteuid32",
	"getgid32",
	"getegid32",
	"getresuid",
	"getresgid",
	"getgroups",
	"kill",
};

/* System calls that the daemon never makes, but that an intruder would make that has taken it over.
 */
static const char *const deadly[] = {
	"execve",
	"execveat",
	"fork",
	"vfork",
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"mount",
	"umount2",
	"pivot_root",
	"chroot",
	"unshare",
	"setns",
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"bpf",
	"perf_event_open",
	"keyctl",
	"add_key",
	"request_key",
	"io_uring_setup",
	"userfaultfd",
	"open_by_handle_at",
	"reboot",
	"swapon",
	"swapoff",
	"settimeofday",
	"clock_settime",
	"clock_adjtime",
	"adjtimex",
	"iopl",
	"ioperm",
	"setuid",
	"setgid",
	"setresuid",
	"setresgid",
	"setgroups",
	"capset",
};

static int add(scmp_filter_ctx f, uint32_t action, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int call = seccomp_syscall_resolve_name(name[i]);
		int rc = call < 0 ? 0 : seccomp_rule_add(f, action, call, 0);

		if (rc)
			return rc;
	}
	return 0;
}

/* A separate filter, because ioctl() as such is needed and the strictest of several filters wins.
 * With these requests a program types into the terminal that it was started from, which may be
 * root's shell. The kernel looks at 32 bits of the request, so the other bits must not hide it.
 */
static int forbid_typing(void)
{
	static const unsigned int requests[] = { TIOCSTI, TIOCLINUX };
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int rc = f ? 0 : -ENOMEM;

	for (unsigned int i = 0; !rc && i < sizeof(requests) / sizeof(requests[0]); i++)
		rc = seccomp_rule_add(f, SCMP_ACT_KILL_PROCESS, SCMP_SYS(ioctl), 1,
				      SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, requests[i]));
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	return rc;
}

int ibcc_confine(void)
{
	scmp_filter_ctx f = seccomp_init(SANITIZED ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
	int rc = f ? forbid_typing() : -ENOMEM;

	if (rc) {
		seccomp_release(f);
		return rc;
	}
	if (SANITIZED) {
		/* A sanitizer itself uses fork, ptrace and execve. */
		static const char *const refused[] = { "mount", "unshare", "setns",      "chroot",
						       "bpf",   "reboot",  "init_module" };

		rc = add(f, SCMP_ACT_ERRNO(EPERM), refused, sizeof(refused) / sizeof(refused[0]));
	} else {
		rc = add(f, SCMP_ACT_ALLOW, allowed, sizeof(allowed) / sizeof(allowed[0]));
		if (!rc)
			rc = add(f, SCMP_ACT_KILL_PROCESS, deadly,
				 sizeof(deadly) / sizeof(deadly[0]));
		/* Allow threads but no processes. A filter cannot read the flags of clone3(), which
		 * are in memory. Without clone3() the C library uses clone().
		 */
		if (!rc)
			rc = seccomp_rule_add(
				f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
		if (!rc)
			rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	}
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	return rc;
}
