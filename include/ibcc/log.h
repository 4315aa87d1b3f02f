/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of the programs: to the journal, to stderr with <N> prefixes, or plain to a terminal. */
#ifndef IBCC_LOG_H
#define IBCC_LOG_H

#include <stdint.h>
#include <sys/uio.h>
#include <syslog.h>

/* Kinds of messages that one may look for in the journal (journalctl MESSAGE_ID=...). */
enum ibcc_log_kind {
	IBCC_LOG_CHANGE, /* a setting: ibcc_log_change_event() */
	IBCC_LOG_ROOT,   /* congestion starts at a port */
	IBCC_LOG_NO_CONGESTION,
	IBCC_LOG_DECISION,
	IBCC_LOG_WOULD_WRITE, /* in mode observe */
	IBCC_LOG_WROTE,
	IBCC_LOG_NOT_WRITTEN, /* not all of it */
	IBCC_LOG_TROUBLE,
	IBCC_LOG_WORKS_AGAIN,
	IBCC_LOG_STALLED,
	IBCC_LOG_DRIFT,
	IBCC_LOG_NO_DRIFT,
	IBCC_LOG_INTERRUPTED,
	IBCC_LOG_UNKNOWN_ORIGIN,
	IBCC_LOG_DOUBTED,
	IBCC_LOG_HELD_BACK, /* by settings, at all times */
	IBCC_LOG_VENDOR,    /* what devices do by themselves */
	IBCC_LOG_REQUEST,
	IBCC_LOG_REQUEST_FAILED,
	IBCC_LOG_UNRECORDED,
	IBCC_LOG_START,
	IBCC_LOG_END,
	IBCC_LOG_FAILED,
	IBCC_LOG_RELOADED,
	IBCC_LOG_BAD_CONFIG,
	IBCC_LOG_KINDS,
};

/* The MESSAGE_ID= of a kind, 32 hexadecimal digits; NULL of none. */
const char *ibcc_log_id(enum ibcc_log_kind kind);

enum ibcc_log_target {
	IBCC_LOG_AUTO, /* journal when stderr is connected to it, else stderr */
	IBCC_LOG_STDERR,
	IBCC_LOG_JOURNAL,
};

/* A decision in structured form; strings may be NULL, then the field is left out. */
struct ibcc_log_change {
	uint64_t guid;
	int port;
	const char *param, *old_text, *new_text, *reason;
};

/* What sends a message, n fields, to the journal: sd_journal_sendv(). */
typedef int ibcc_log_journal(const struct iovec *iov, int n);

/* Sets up logging for the process, before it has threads; level is a syslog level, messages above
 * it are dropped. A program that never writes to the journal gives no sendv, and so is not linked
 * with libsystemd: that library and those that it needs take a quarter of the time in which the
 * command line starts. Without sendv, and where no journal runs, messages go to stderr. Until this
 * is called, messages up to LOG_INFO go to stderr plainly.
 */
void ibcc_log_open(const char *ident, enum ibcc_log_target target, ibcc_log_journal *sendv,
		   int level);
void ibcc_log_set_level(int level);

/* Messages may come from any thread; each is cut at about 2000 bytes. */
void ibcc_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As ibcc_log(), for a message of a kind, which is a field in the journal. */
void ibcc_log_of(enum ibcc_log_kind kind, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Logs a setting that was or would be changed, with IB_GUID=, IB_PORT=, PARAM=, OLD=, NEW=,
 * REASON= fields in the journal.
 */
void ibcc_log_change_event(int level, const char *what, const struct ibcc_log_change *c);

#endif
