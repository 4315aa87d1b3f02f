/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a tuned fabric would give to the sources of an estimate, by arithmetic. */
#ifndef IBCC_DAEMON_PREDICT_H
#define IBCC_DAEMON_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/picture.h>
#include <ibcc/topo.h>

struct ibcc_predicted {
	uint32_t root;   /* index in the estimate */
	uint32_t source; /* index in that root */
	uint32_t now_mbps, expected_mbps;
};

/* Sums are over the sources of one role in all roots. */
struct ibcc_prediction {
	bool known;      /* false: nothing below counts, see `why` */
	const char *why; /* a sentence if not known */
	uint32_t n;
	struct ibcc_predicted *source; /* owned */
	uint64_t hot_now_mbps, hot_expected_mbps;
	uint64_t victim_now_mbps, victim_expected_mbps;
};

/* Max-min fair shares: contributors go through the root, which carries its link's rate, or what it
 * carries now where the destination is slow. Where victims go cannot be seen in counters; they are
 * taken to share the whole tree up to the root's switch, so that what they are promised is what the
 * tree has left for them. All are taken to have enough to send. Not known while nothing is marked,
 * for then contributors cannot be told from victims. -ENOMEM.
 */
int ibcc_predict(const struct ibcc_topo *t, const struct ibcc_picture *e,
		 struct ibcc_prediction *p);
void ibcc_prediction_fini(struct ibcc_prediction *p);

#endif
