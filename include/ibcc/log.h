/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of the programs: to the journal, to stderr with <N> prefixes, or plain to a terminal. */
#ifndef IBCC_LOG_H
#define IBCC_LOG_H

#include <stdint.h>
#include <syslog.h>

/* MESSAGE_ID= of changed settings in the journal (journalctl MESSAGE_ID=...). */
#define IBCC_LOG_CHANGE_ID "4c1b3f0e5a7d4f0bb7a6d2f3c98e1d57"

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

/* Sets up logging for the process, before it has threads; level is a syslog level, messages above
 * it are dropped. Where no journal runs, messages for it go to stderr. Until this is called,
 * messages up to LOG_INFO go to stderr plainly.
 */
void ibcc_log_open(const char *ident, enum ibcc_log_target target, int level);
void ibcc_log_set_level(int level);

/* Messages may come from any thread; each is cut at about 2000 bytes. */
void ibcc_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Logs a setting that was or would be changed, with IB_GUID=, IB_PORT=, PARAM=, OLD=, NEW=,
 * REASON= fields in the journal.
 */
void ibcc_log_change_event(int level, const char *what, const struct ibcc_log_change *c);

#endif
