/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who knows the token shows it without sending it: a host sends a salt that it has not sent before,
 * the coordinator what crypt(3) makes of the token and that. All that follows is sent as it is, so
 * this keeps out who only listens, not who can change what is sent.
 */
#ifndef PERFTEST_VERBS_TOKEN_H
#define PERFTEST_VERBS_TOKEN_H

#include <stdbool.h>

#define IBCC_PERF_PROOF_BYTES 160u

/* The first line of a file that nobody else may read; the caller frees it. NULL with the reason on
 * standard error.
 */
char *ibcc_perf_token(const char *file);

/* A salt for one session. 0, or -errno without random numbers. */
int ibcc_perf_token_salt(char salt[static IBCC_PERF_PROOF_BYTES]);
/* What a token and a salt make. -EPROTO for a salt of another kind than ours, which could be cheap
 * to break or dear to work out.
 */
int ibcc_perf_token_prove(const char *token, const char *salt,
			  char proof[static IBCC_PERF_PROOF_BYTES]);
/* Whether that is what somebody sent, in time that does not depend on where they differ. */
bool ibcc_perf_token_is(const char *want, const char *got);

#endif
