/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The expected effect of plans, computed beside the polling cycles in a separate thread. It
 * remembers what the fabric carried before any sender was blocked, also over a restart.
 */
#ifndef IBCC_DAEMON_PREDICTOR_H
#define IBCC_DAEMON_PREDICTOR_H

#include <stdint.h>

#include <jansson.h>

#include <ibcc/cycle.h>
#include <ibcc/dcqcn.h>

#include "daemon/predict/evidence.h"

struct ibcc_predictor;

/* `cpu_s`: CPU seconds that a prediction may take; 0: make none. NULL without memory. */
struct ibcc_predictor *ibcc_predictor_new(uint32_t cpu_s);
/* Ends a running prediction within a simulated millisecond. Accepts NULL. */
void ibcc_predictor_free(struct ibcc_predictor *p);
/* `prefer_latency`: recommend plans that cost throughput and reduce latency; at first they are not.
 */
void ibcc_predictor_configure(struct ibcc_predictor *p, uint32_t cpu_s, bool prefer_latency);

/* Call after each polling cycle: remembers its loads. Keeps the baseline in `state` (may be NULL),
 * and reads it from there if the fabric is unchanged. -ENOMEM.
 */
int ibcc_predictor_look(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			struct ibcc_state *state);

/* The data for a prediction of the last polling cycle's plan, or of the caller's own settings
 * (NULL: the plan's). -EAGAIN: ibcc_predictor_look() has not seen that cycle; -ENOMEM. Call
 * ibcc_evidence_fini() on *e whatever it returns.
 */
int ibcc_predictor_evidence(const struct ibcc_predictor *p, const struct ibcc_cycle *c,
			    const struct ibcc_settings *wanted, struct ibcc_evidence *e);

/* Starts a prediction for the last polling cycle's plan, or for the caller's own settings
 * (`wanted`, copied; NULL: the plan's). 0; -EALREADY: there is one for it; -EBUSY: another one is
 * running, or ended and not waited for; -ENOMEM. Does not wait. The thread calls done(arg) when the
 * prediction is ready; then call ibcc_predictor_wait().
 */
int ibcc_predictor_begin(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			 const struct ibcc_settings *wanted, void (*done)(void *arg), void *arg);
/* Starts a prediction for written settings: by the last polling cycle, or after it (`wanted`).
 * Returns as ibcc_predictor_begin(). -EALREADY also means that control was on before, so that there
 * is nothing to predict.
 */
int ibcc_predictor_begin_written(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				 const struct ibcc_settings *wanted, void (*done)(void *arg),
				 void *arg);
/* Starts advice on DCQCN for the last polling cycle's roots, by the adapters' parameters and a
 * buffer as ibcc_advise_in has them. Returns as ibcc_predictor_begin() does.
 */
struct ibcc_advice_basis {
	/* Of the adapter that it was read from. IBCC_NONE: from none, and the factory values count.
	 */
	uint32_t rp_port;
	struct ibcc_dcqcn_rp rp;
	uint32_t buffer_bytes; /* of an input port and VL */
	uint32_t buffer_port;  /* of the switch that has reported it; IBCC_NONE: assumed */
};
int ibcc_predictor_begin_advice(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				const struct ibcc_advice_basis *basis, void (*done)(void *arg),
				void *arg);
/* Whether one is running, or ended and not waited for: -EBUSY of the functions above. */
bool ibcc_predictor_is_busy(const struct ibcc_predictor *p);
/* Call after settings were written: older loads do not describe the new state, beginning with the
 * next polling cycle.
 */
void ibcc_predictor_wrote(struct ibcc_predictor *p);
/* Ends a running prediction within a simulated millisecond, without a result. Call from the thread
 * that began it.
 */
void ibcc_predictor_abandon(struct ibcc_predictor *p);
/* Waits for a running prediction, if any. */
void ibcc_predictor_wait(struct ibcc_predictor *p);

/* The last finished prediction as JSON (see ibcc_report_prediction()), a new reference. It is for
 * the polling cycle with this number (0: any), or says that there is none. NULL without memory.
 */
json_t *ibcc_predictor_tell(struct ibcc_predictor *p, uint64_t pass);

#endif
