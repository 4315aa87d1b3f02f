/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What plans will bring, computed beside the passes in a thread of its own. It remembers what the
 * fabric carried before anybody waited, also over a restart.
 */
#ifndef IBCC_DAEMON_PREDICTOR_H
#define IBCC_DAEMON_PREDICTOR_H

#include <stdint.h>

#include <jansson.h>

#include <ibcc/cycle.h>

#include "daemon/predict/evidence.h"

struct ibcc_predictor;

/* CPU seconds that a prediction may take; 0: none is made. NULL without memory. */
struct ibcc_predictor *ibcc_predictor_new(uint32_t cpu_s);
/* Ends a prediction under way within a simulated millisecond. Accepts NULL. */
void ibcc_predictor_free(struct ibcc_predictor *p);
void ibcc_predictor_configure(struct ibcc_predictor *p, uint32_t cpu_s);

/* After each pass: remembers its loads. The baseline is kept in `state` (may be NULL) and read from
 * there where the fabric is the same. -ENOMEM.
 */
int ibcc_predictor_look(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			struct ibcc_state *state);

/* What a prediction is made from for the last pass' plan, or for settings of one's own (NULL: the
 * plan's). -EAGAIN: that pass has not been looked at; -ENOMEM. *e needs ibcc_evidence_fini()
 * whatever it returns.
 */
int ibcc_predictor_evidence(const struct ibcc_predictor *p, const struct ibcc_cycle *c,
			    const struct ibcc_settings *wanted, struct ibcc_evidence *e);

/* Begins a prediction for the last pass' plan, or for settings of one's own (`wanted`, copied;
 * NULL: the plan's). 0; -EALREADY: there is one for it; -EBUSY: another is under way, or nobody has
 * waited for it; -ENOMEM. Never waits itself. done(arg) is called from the thread when it is there:
 * then somebody has to wait for its end.
 */
int ibcc_predictor_begin(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			 const struct ibcc_settings *wanted, void (*done)(void *arg), void *arg);
/* The same for what was written: by the last pass, or after it (`wanted`). Besides -EALREADY:
 * control was on before, so that there is nothing to tell.
 */
int ibcc_predictor_begin_written(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				 const struct ibcc_settings *wanted, void (*done)(void *arg),
				 void *arg);
/* Settings were written: loads of before no longer tell of now, beginning with the next pass. */
void ibcc_predictor_wrote(struct ibcc_predictor *p);
/* Has the one under way, if any, end within a simulated millisecond: it tells nothing. From the
 * thread that began it.
 */
void ibcc_predictor_abandon(struct ibcc_predictor *p);
/* Waits for the one under way, if any. */
void ibcc_predictor_wait(struct ibcc_predictor *p);

/* The last one that has ended as JSON (see ibcc_report_prediction()), a new reference: for the
 * pass with a number (0: any), or one that says that there is none. NULL without memory.
 */
json_t *ibcc_predictor_tell(struct ibcc_predictor *p, uint64_t pass);

#endif
