/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which settings the fabric should have: formulas first, then feedback. */
#ifndef IBCC_TUNER_H
#define IBCC_TUNER_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

#define IBCC_REASON_BYTES 256u

/* Why an attribute of an endport is to have its new value. */
struct ibcc_reason {
	uint32_t endport;
	uint16_t attr_id; /* enum ibcc_cc_attr */
	char text[IBCC_REASON_BYTES];
};

/* What the tuner wants on the fabric: complete settings, equal to the actual ones where nothing is
 * to change, and a reason for each attribute that differs.
 */
struct ibcc_target {
	struct ibcc_settings wanted;
	uint32_t n_reasons, cap_reasons;
	struct ibcc_reason *reason;
	/* Endports that ought to get settings but cannot: ibcc_endport_cc:support. */
	uint32_t n_without, *without;
	char summary[IBCC_REASON_BYTES]; /* the decision of this step in one sentence */
	/* Counters look as if some settings were not on the fabric any more: the actual ones should
	 * be read again before the next step.
	 */
	bool doubt;
};
void ibcc_target_fini(struct ibcc_target *t);

struct ibcc_tuner_params {
	uint8_t confirm_passes; /* congestion must be seen in so many passes before acting */
	/* A root's contributors are learnt by marking alone, with tables of no delay, for so many
	 * passes at most before they get values; 0: values go to all who wait at once.
	 */
	uint8_t probe_passes;
	uint8_t settle_passes;         /* passes to wait after a change before judging it */
	uint16_t sink_busy_permille;   /* hot port at least so busy, else relax */
	uint16_t victim_wait_permille; /* victims that wait more are not free yet: strengthen */
	uint16_t quiet_passes;         /* passes without congestion before settings are removed */
	uint16_t guard_passes; /* passes after a change in which harm is taken back; 0: never */
};
void ibcc_tuner_defaults(struct ibcc_tuner_params *p);

struct ibcc_tuner; /* state between steps */

/* NULL without memory. */
struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p);
void ibcc_tuner_free(struct ibcc_tuner *t);

/* One decision. *out is initialised by the call, freed by ibcc_target_fini(). -ENOMEM. */
int ibcc_tuner_step(struct ibcc_tuner *tuner, const struct ibcc_topo *t,
		    const struct ibcc_snapshot *s, const struct ibcc_estimate *e,
		    const struct ibcc_settings *actual, struct ibcc_target *out);

/* Are settings that the next steps want carried out? A probe only begins if they are; at first they
 * are not.
 */
void ibcc_tuner_may_probe(struct ibcc_tuner *tuner, bool may);

/* Forgets all state about the fabric: after a new topology or a change of mode. */
void ibcc_tuner_reset(struct ibcc_tuner *tuner);

#endif
