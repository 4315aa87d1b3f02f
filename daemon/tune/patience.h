/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How long to wait for a daemon. */
#ifndef IBCC_TUNE_PATIENCE_H
#define IBCC_TUNE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ibcc/jsonl.h>
#include <ibcc/why.h>

#include "daemon/tune/tune.h"

struct tune_patience {
	const struct tune *t;
	bool is_status;             /* the request itself is for the sign of life */
	uint64_t start_ms, sign_ms; /* the start of the wait, and the last sign of life */
	pid_t pid;                  /* of the daemon; 0: unknown */
	bool lives, stopped, told;
	char name[40];
};

/* Waits for a daemon, with *p, which must stay valid: for one that gives signs of life as long as
 * it does, for another one some seconds.
 */
struct ibcc_jsonl_wait tune_patience(struct tune_patience *p, const struct tune *t, bool is_status);
/* "ibcc-tuned (pid 123)", as far as it is known; stored in *p. */
const char *tune_daemon_text(struct tune_patience *p);
/* Says why the wait ended with -ETIMEDOUT. Returns that, or -EOWNERDEAD if the daemon's process is
 * stopped, so that it cannot do anything beside us.
 */
int tune_patience_ended(struct tune_patience *p, struct ibcc_why *why);

#endif
