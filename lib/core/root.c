/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of the roots that are followed, and which root is in which phase. */
#include <ibcc/parameters.h>

#include <stdlib.h>

#include <ibcc/picture.h>

struct ibcc_root_state *ibcc_parameters_find(struct ibcc_parameters *p, uint32_t port)
{
	for (uint32_t k = 0; k < p->n_roots; k++)
		if (p->root[k].r.port == port)
			return &p->root[k];
	return NULL;
}

struct ibcc_root_state *ibcc_parameters_add(struct ibcc_parameters *p, uint32_t port)
{
	size_t n = p->n_endports ? p->n_endports : 1;
	struct ibcc_root_state s = {
		.r = {
			.port = port,
			.end_permille = 1000,
			.loop_permille = 1000,
			.leader = p->n_roots,
			.alone = true,
		},
		.patience = 1,
	};

	if (p->n_roots == IBCC_ROOTS_MAX)
		return NULL;
	s.r.member = calloc(n, sizeof(*s.r.member));
	s.r.lacking = calloc(n, sizeof(*s.r.lacking));
	if (!s.r.member || !s.r.lacking) {
		free(s.r.member);
		free(s.r.lacking);
		return NULL;
	}
	p->root[p->n_roots] = s;
	return &p->root[p->n_roots++];
}

void ibcc_parameters_remove(struct ibcc_parameters *p, uint32_t k)
{
	free(p->root[k].r.member);
	free(p->root[k].r.lacking);
	free(p->root[k].before);
	p->root[k] = p->root[--p->n_roots];
	p->root[p->n_roots] = (struct ibcc_root_state){ 0 };
}

void ibcc_parameters_fini(struct ibcc_parameters *p)
{
	while (p->n_roots)
		ibcc_parameters_remove(p, p->n_roots - 1);
}
