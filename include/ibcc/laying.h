/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From parameters of roots to settings of nodes and ports. */
#ifndef IBCC_LAYING_H
#define IBCC_LAYING_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/parameters.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>

/* What endports had before they got settings of ours for the first time. */
struct ibcc_laying {
	struct ibcc_settings baseline;
	bool *touched; /* by endport: has a baseline, which it is to have again in the end */
};

/* -ENOMEM. ibcc_laying_fini() accepts one of zeros. */
int ibcc_laying_init(struct ibcc_laying *l, const struct ibcc_topo *t);
void ibcc_laying_fini(struct ibcc_laying *l);

/* Lays parameters over the actual settings: a node that lost its settings gets them again, and one
 * that is not ours keeps what it has. *out is initialised by the call; its summary is empty.
 * -ENOMEM.
 */
int ibcc_laying_run(struct ibcc_laying *l, const struct ibcc_topo *t,
		    const struct ibcc_parameters *p, const struct ibcc_settings *actual,
		    struct ibcc_target *out);

#endif
