/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which settings the fabric should have: controller, laying and words in one step. */
#ifndef IBCC_TUNER_H
#define IBCC_TUNER_H

#include <stdbool.h>

#include <ibcc/controller.h>
#include <ibcc/parameters.h>
#include <ibcc/picture.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>

struct ibcc_tuner; /* state between steps */

/* NULL without memory. */
struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p);
void ibcc_tuner_free(struct ibcc_tuner *t);

/* One decision. *out is initialised by the call, freed by ibcc_target_fini(). -ENOMEM. */
int ibcc_tuner_step(struct ibcc_tuner *tuner, const struct ibcc_topo *t,
		    const struct ibcc_picture *p, const struct ibcc_settings *actual,
		    struct ibcc_target *out);

/* What the last step decided; the tuner's until the next. */
const struct ibcc_parameters *ibcc_tuner_parameters(const struct ibcc_tuner *tuner);

/* Sets which[endport] for those that the last step wants settings for, whoever made them, or has to
 * give back what they had before. Returns how many were not set.
 */
int ibcc_tuner_held(const struct ibcc_tuner *tuner, bool *which);

/* From the next step on adapters keep what they have for these SLs. */
void ibcc_tuner_spare(struct ibcc_tuner *tuner, uint16_t sls);

/* From the next step on no table and no timer goes beyond these, see struct ibcc_bounds. */
void ibcc_tuner_bound(struct ibcc_tuner *tuner, uint32_t max_delay, uint16_t max_timer);

/* See ibcc_controller_may_learn(). */
void ibcc_tuner_may_learn(struct ibcc_tuner *tuner, bool may);

/* Forgets all state about the fabric: after a new topology or a change of mode. */
void ibcc_tuner_reset(struct ibcc_tuner *tuner);

#endif
