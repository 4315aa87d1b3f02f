/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The published guidelines as register values (M. Gusat, W. Denzel and others, Case study:
 * InfiniBand CM parameter tuning, IBM Zurich Research Laboratory, IEEE 802 plenary, November
 * 2006).
 *
 * The study counted in the units of its model. Here everything is converted to packet times and
 * register units, so that it holds for other links. A published value is kept even if a little
 * more would serve better (128 sources at exactly HSD packet times leave no room): such margins
 * are the tuner's business.
 */
#include <ibcc/formula.h>

#include <errno.h>

#include <ibcc/link.h>

#define QUEUE_PERMILLE  900u
#define IG_TIMER_NS     10000u
#define OG_TIMER_NS     210000u
#define OG_MAX_IPD_NS   210000u
#define OG_INCREASE     127u
#define THRESHOLD_STEPS 16u
#define THRESHOLD_MAX   (THRESHOLD_STEPS - 1)

/* min(N/6, HSD/2), rounded down: the published tuning of 32 nodes is 5 where the formula gives
 * 5.33.
 */
static uint8_t ig_increase(uint32_t n_ports, uint32_t hsd)
{
	uint32_t v = n_ports / 6 < hsd / 2 ? n_ports / 6 : hsd / 2;

	if (v < 1)
		return 1;
	return (uint8_t)(v < UINT8_MAX ? v : UINT8_MAX);
}

int ibcc_formula_compute(const struct ibcc_formula_in *in, struct ibcc_formula_out *out)
{
	struct ibcc_formula_out o = {
		.cct_entries = IBCC_FORMULA_ENTRIES,
		.threshold = ibcc_formula_threshold_register(QUEUE_PERMILLE),
		.queue_permille = QUEUE_PERMILLE,
	};
	uint64_t packet_ps, delay_milli = 0;

	if (!in->n_ports || !in->hsd || !in->rate_mbps || !in->packet_bytes)
		return -EINVAL;
	packet_ps = ibcc_link_packet_ps(in->packet_bytes, in->rate_mbps);

	switch (in->kind) {
	case IBCC_CONGESTION_INPUT:
		o.shape = IBCC_CCT_LINEAR;
		o.ccti_increase = ig_increase(in->n_ports, in->hsd);
		o.timer_ns = IG_TIMER_NS;
		delay_milli = 1000ull * in->hsd;
		break;
	case IBCC_CONGESTION_OUTPUT:
		o.shape = IBCC_CCT_MULTIPLICATIVE;
		o.ccti_increase = OG_INCREASE;
		o.timer_ns = OG_TIMER_NS;
		delay_milli = (OG_MAX_IPD_NS * 1000000ull + packet_ps / 2) / packet_ps;
		break;
	}
	if (delay_milli > IBCC_CCT_MAX_DELAY_MILLI)
		delay_milli = IBCC_CCT_MAX_DELAY_MILLI;
	o.max_delay_milli = (uint32_t)delay_milli;
	/* In two steps: a whole product may not fit for slow links and huge packets. */
	o.max_ipd_ns = packet_ps / 1000000 * delay_milli +
		       (packet_ps % 1000000 * delay_milli + 500000) / 1000000;
	o.ccti_timer = ibcc_formula_timer_register(o.timer_ns);
	*out = o;
	return 0;
}

uint16_t ibcc_formula_timer_register(uint64_t ns)
{
	uint64_t t;

	if (ns >= (uint64_t)UINT16_MAX * IBCC_FORMULA_TIMER_UNIT_NS)
		return UINT16_MAX;
	t = (ns + IBCC_FORMULA_TIMER_UNIT_NS / 2) / IBCC_FORMULA_TIMER_UNIT_NS;
	return (uint16_t)(t ? t : 1);
}

uint8_t ibcc_formula_threshold_register(unsigned int queue_permille)
{
	unsigned int sixteenths;

	if (queue_permille > 1000)
		queue_permille = 1000;
	sixteenths = (queue_permille * THRESHOLD_STEPS + 500) / 1000;
	if (sixteenths < 1)
		sixteenths = 1;
	if (sixteenths > THRESHOLD_MAX)
		sixteenths = THRESHOLD_MAX;
	return (uint8_t)(THRESHOLD_STEPS - sixteenths);
}

unsigned int ibcc_formula_threshold_permille(uint8_t threshold)
{
	if (!threshold || threshold > THRESHOLD_MAX)
		return 0;
	return ((THRESHOLD_STEPS - threshold) * 1000 + THRESHOLD_STEPS / 2) / THRESHOLD_STEPS;
}

uint32_t ibcc_formula_mark_share_permille(uint64_t n_int_ns, uint8_t ccti_increase,
					  uint16_t ccti_timer)
{
	uint64_t den = (uint64_t)ccti_increase * ccti_timer * IBCC_FORMULA_TIMER_UNIT_NS;
	uint64_t whole, permille;

	if (!den)
		return UINT32_MAX;
	whole = n_int_ns / den;
	if (whole >= UINT32_MAX / 1000)
		return UINT32_MAX;
	permille = whole * 1000 + (n_int_ns % den * 1000 + den / 2) / den;
	return (uint32_t)permille;
}
