/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ring of the last Sets of class 0x21 (setlog.h). */
#include "sim/setlog.h"

#include <errno.h>
#include <stdlib.h>

int ibcc_setlog_init(struct ibcc_setlog *l)
{
	*l = (struct ibcc_setlog){ .entry = calloc(IBCC_SETLOG_MAX, sizeof(*l->entry)) };
	return l->entry ? 0 : -ENOMEM;
}

void ibcc_setlog_fini(struct ibcc_setlog *l)
{
	free(l->entry);
	*l = (struct ibcc_setlog){ 0 };
}

void ibcc_setlog_add(struct ibcc_setlog *l, const struct ibcc_setlog_entry *e)
{
	l->entry[l->n++ % IBCC_SETLOG_MAX] = *e;
}

uint64_t ibcc_setlog_first(const struct ibcc_setlog *l)
{
	return l->n > IBCC_SETLOG_MAX ? l->n - IBCC_SETLOG_MAX : 0;
}

const struct ibcc_setlog_entry *ibcc_setlog_at(const struct ibcc_setlog *l, uint64_t i)
{
	return &l->entry[i % IBCC_SETLOG_MAX];
}
