/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Proves that a coordinator knows the token, without sending the token. A host sends a salt that it
 * has not sent before, and the coordinator sends what crypt(3) makes of the token and the salt. All
 * later messages are sent as they are. So this keeps out an attacker that only listens, but not one
 * that can change what is sent.
 */
#ifndef PERFTEST_VERBS_TOKEN_H
#define PERFTEST_VERBS_TOKEN_H

#include <stdbool.h>

#define IBCC_PERF_PROOF_BYTES 160u

/* The first line of a file that no other user may read; the caller frees it. NULL with the reason
 * on standard error.
 */
char *ibcc_perf_token(const char *file);

/* A salt for one session. 0, or -errno without random numbers. */
int ibcc_perf_token_salt(char salt[static IBCC_PERF_PROOF_BYTES]);
/* Computes the proof from a token and a salt. -EPROTO for a salt of another kind than ours, which
 * could be easy to break or expensive to compute.
 */
int ibcc_perf_token_prove(const char *token, const char *salt,
			  char proof[static IBCC_PERF_PROOF_BYTES]);
/* Whether the received proof is the expected one, in time that does not depend on where they
 * differ.
 */
bool ibcc_perf_token_is(const char *want, const char *got);

#endif
