/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transport around another one that loses, refuses and corrupts datagrams by a seeded rule. So
 * tests can try, and repeat, what the stages above do on a bad fabric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>
#include <ibcc/transport.h>

#define REFUSED 0x000c

struct fault_transport {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	struct ibcc_fault_options o;
	uint64_t rng, n_requests, n_lost;
};

static struct fault_transport *to_fault(struct ibcc_transport *t)
{
	return (struct fault_transport *)t;
}

static bool strikes(struct fault_transport *f, const struct ibcc_mad_op *op, uint16_t permille)
{
	return (f->o.lid == 0 || f->o.lid == op->lid) && ibcc_rng_next(&f->rng) % 1000 < permille;
}

static int fault_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct fault_transport *f = to_fault(t);
	struct ibcc_mad_op *pass = calloc(n ? n : 1, sizeof(*pass));
	size_t *from = calloc(n ? n : 1, sizeof(*from));
	size_t n_pass = 0;
	int rc = -ENOMEM;

	for (size_t i = 0; i < n; i++)
		op[i].err = -ENOMEM;
	if (!pass || !from)
		goto out;
	rc = 0;
	for (size_t i = 0; i < n; i++) {
		op[i].status = 0;
		if (f->o.fail_after && f->n_requests >= f->o.fail_after) {
			op[i].err = rc = -EIO;
			continue;
		}
		f->n_requests++;
		if (strikes(f, &op[i], f->o.loss_permille)) {
			op[i].err = -ETIMEDOUT;
			op[i].t_ns = ibcc_transport_fabric_ns(f->inner);
			f->n_lost++;
			continue;
		}
		if (f->o.refuse_permille && strikes(f, &op[i], f->o.refuse_permille)) {
			op[i].err = -EREMOTEIO;
			op[i].status = REFUSED;
			op[i].t_ns = ibcc_transport_fabric_ns(f->inner);
			continue;
		}
		pass[n_pass] = op[i];
		from[n_pass++] = i;
	}
	if (n_pass) {
		int inner_rc;

		f->inner->deadline_ns = t->deadline_ns;
		inner_rc = ibcc_transport_run(f->inner, pass, n_pass);
		rc = inner_rc < 0 ? inner_rc : rc;
	}
	for (size_t k = 0; k < n_pass; k++) {
		op[from[k]] = pass[k];
		if (pass[k].err == 0 && strikes(f, &pass[k], f->o.corrupt_permille)) {
			uint64_t bit = ibcc_rng_next(&f->rng) %
				       (8 * (IBCC_MAD_BYTES - IBCC_MAD_DATA_OFFS));

			op[from[k]].mad[IBCC_MAD_DATA_OFFS + bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	t->stats = f->inner->stats;
	t->stats.sent += f->n_lost;
	t->stats.timed_out += f->n_lost;
out:
	free(pass);
	free(from);
	return rc;
}

static uint64_t fault_now_ns(struct ibcc_transport *t)
{
	return ibcc_transport_now_ns(to_fault(t)->inner);
}

static uint64_t fault_fabric_ns(struct ibcc_transport *t)
{
	return ibcc_transport_fabric_ns(to_fault(t)->inner);
}

static void fault_cancel(struct ibcc_transport *t)
{
	ibcc_transport_cancel(to_fault(t)->inner);
}

static void fault_free(struct ibcc_transport *t)
{
	struct fault_transport *f = to_fault(t);

	ibcc_transport_free(f->inner);
	free(f);
}

static const struct ibcc_transport_ops fault_ops = {
	.run = fault_run,
	.now_ns = fault_now_ns,
	.fabric_ns = fault_fabric_ns,
	.cancel = fault_cancel,
	.free = fault_free,
};

struct ibcc_transport *ibcc_fault_new(struct ibcc_transport *inner,
				      const struct ibcc_fault_options *o)
{
	struct fault_transport *f = inner ? calloc(1, sizeof(*f)) : NULL;

	if (!f) {
		ibcc_transport_free(inner);
		return NULL;
	}
	f->base.ops = &fault_ops;
	f->base.whole_bytes = inner->whole_bytes;
	f->base.simulated = inner->simulated;
	f->inner = inner;
	f->o = *o;
	f->rng = o->seed;
	return &f->base;
}
