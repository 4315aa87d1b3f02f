/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codes of decisions as a sentence. Internal to the tuner. */
#ifndef IBCC_CORE_WORDS_H
#define IBCC_CORE_WORDS_H

#include <ibcc/controller.h>

/* Writes out->summary: what was decided, or what there is. */
void ibcc_words_summary(const struct ibcc_topo *t, const struct ibcc_decision *said,
			uint32_t n_said, const struct ibcc_parameters *p,
			const struct ibcc_picture *pic, struct ibcc_target *out);

#endif
