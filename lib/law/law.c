/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The guideline formulas of Gusat, Denzel et al. (2006), generalised to any link and drain rate.
 *
 * Their maximum delay, HSD packet times, is what brings HSD sources to one link's rate; a root
 * that carries less, R of C, needs n * C / R - 1 = x. The end of the table lies a little beyond x,
 * since control ends where the table does. Entries grow by one factor (their table for
 * output-generated congestion), so that a BECN takes the same share of the rate from fast and slow
 * sources. An index means the same delay in all tables, which differ in where they end only: a
 * source keeps its rate when its table is replaced. Were tables stretched instead, each flow of a
 * moderate hotspot would all but stop when its adapter gets the table of a severe one.
 *
 * The timer follows from the balance of the annex's increments and decrements: in equilibrium the
 * share p = N_int / (increase * timer) of packets is marked. The published settings have p near
 * 0.4; a queue that is kept short has room for the victims' packets, and p = 0.12 keeps it short
 * and still leaves eight times the marks that control needs at its limit, p = 1. The table has to
 * hold all contributors down to an equal share; the balance of marks is that of the heaviest flow,
 * which is the one that is held.
 *
 * A tree that stands is emptied by sources sending next to nothing until it has run dry, while it
 * keeps the root busy. BECNs come only as fast as the root serves packets, a few for each source in
 * the time that emptying takes, so few must do; and none may recover before the next decision,
 * since all of them would.
 */
#include <ibcc/law.h>

#include <errno.h>
#include <math.h>
#include <string.h>

/* 1/1000 packet times between 1.15 x and the end of a table. With 200 for all roots slow receivers
 * lose control (97.4 to 94.3 % of the ideal in one draw). With 500 for a full link whose pairs the
 * log names, two or three sources at their tables' ends leave a quarter of it idle. With double of
 * END_EXTRA random scenarios lose 0.23 points of the mean at the start. With half of it, and with
 * half and double of END_EXTRA_KNOWN, they do not differ by more than chance.
 */
#define END_EXTRA       500u
#define END_EXTRA_KNOWN 200u
/* While a tree is emptied, the last entries of a table, one in DRAIN_LAST, all hold the table's
 * end. With half and double random scenarios do not differ by more than chance.
 */
#define DRAIN_LAST 8u
/* Ticks of the timer between two decisions while a tree is emptied: no source may recover before.
 * With half and double random scenarios do not differ by more than chance.
 */
#define DRAIN_TICKS 2u
/* Sources of a slow receiver that may have a step of one entry; n have one of sqrt(n / 9). With
 * half random scenarios do not differ by more than chance, and with double none differs. They have
 * 30 hosts at most.
 */
#define CROWD 9u
/* No table ends nearer than an eighth of a packet time, the shortest delay that an entry has. No
 * random scenario differs with half or double.
 */
#define END_MIN_MILLI 125u

uint32_t ibcc_law_fair_milli(uint32_t n, uint32_t source_mbps, uint32_t root_mbps)
{
	double x = root_mbps ? (double)n * source_mbps / root_mbps - 1 : 0;

	if (x <= 0)
		return 0;
	return x * 1000 < IBCC_CCT_MAX_DELAY_MILLI ? (uint32_t)lround(x * 1000)
						   : IBCC_CCT_MAX_DELAY_MILLI;
}

/* Queue share at which the root marks.
 *
 * For input-generated congestion it is half a buffer. A deep queue keeps the root busy, but if only
 * one port feeds it, the whole queue is in that port's buffer, which other packets share. The
 * published 90 % (Gusat et al. 2006) is hardly reached there, and never if a buffer holds only
 * eight packets.
 *
 * For a slow sink it is a quarter. Its packets share their input buffer with the victims' packets,
 * which need room beside them, while the buffer of the sink's adapter keeps the sink busy.
 */
uint8_t ibcc_law_threshold(enum ibcc_congestion kind)
{
	return ibcc_formula_threshold_register(kind == IBCC_CONGESTION_INPUT ? 500 : 250);
}

static double clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

static uint32_t to_end(double milli)
{
	return (uint32_t)lround(clamp(milli, END_MIN_MILLI, IBCC_CCT_MAX_DELAY_MILLI));
}

static unsigned int n_entries(uint32_t cap_entries)
{
	return cap_entries < IBCC_FORMULA_ENTRIES ? cap_entries : IBCC_FORMULA_ENTRIES;
}

int ibcc_law_table(uint32_t cap_entries, uint32_t end_milli, struct ibcc_cct *cct)
{
	struct ibcc_cct t;
	unsigned int last = 1;
	int ret = ibcc_cct_build(&t, IBCC_CCT_MULTIPLICATIVE, n_entries(cap_entries),
				 IBCC_CCT_MAX_DELAY_MILLI);

	if (ret)
		return ret;
	while (last < t.limit && ibcc_cct_entry_delay_milli(t.entry[last]) < end_milli)
		last++;
	t.limit = (uint16_t)last;
	t.entry[last] = ibcc_cct_entry_encode(end_milli);
	memset(t.entry + last + 1, 0, (IBCC_CCT_MAX_ENTRIES - last - 1) * sizeof(*t.entry));
	*cct = t;
	return 0;
}

void ibcc_law_bound(uint32_t max_delay, uint16_t max_timer, struct ibcc_law_out *law)
{
	struct ibcc_cct *t = &law->cct;
	uint32_t most_milli = max_delay * 1000;
	unsigned int last = 1;

	if (law->end_milli > most_milli) {
		while (last < t->limit && ibcc_cct_entry_delay_milli(t->entry[last]) < most_milli)
			last++;
		memset(t->entry + last, 0, (IBCC_CCT_MAX_ENTRIES - last) * sizeof(*t->entry));
		t->entry[last] = ibcc_cct_entry_encode(most_milli);
		t->limit = (uint16_t)last;
		law->cut_end_milli = law->end_milli;
		law->end_milli = most_milli;
	}
	if (law->timer > max_timer) {
		law->cut_timer = law->timer;
		law->timer = max_timer;
		law->mark_permille =
			ibcc_formula_mark_share_permille(law->n_int_ns, law->increase, law->timer);
	}
}

/* Makes a table for emptying a tree: a flow that gets a few BECNs almost stops, and one that got
 * one or none goes on.
 */
static void make_draining(struct ibcc_cct *cct, uint32_t end_milli)
{
	for (unsigned int i = cct->limit - cct->limit / DRAIN_LAST; i <= cct->limit; i++)
		cct->entry[i] = ibcc_cct_entry_encode(end_milli);
}

/* Entries by which a BECN slows a source. It is one for a full link, since larger steps leave gaps
 * on it. A source of a slow receiver is marked only as often as the receiver takes one of its
 * packets. It also needs many marks before its delay is longer than the pauses that it makes
 * anyway: 647 sources of a sink at a tenth of its link would need 400 ms. Random steps of n sources
 * add up like the root of n, so many sources may have larger steps and swing no more in total. And
 * the receiver's buffer bridges gaps.
 */
static uint8_t increase(const struct ibcc_root_parameters *r)
{
	if (r->kind == IBCC_CONGESTION_INPUT)
		return 1;
	return (uint8_t)clamp(sqrt((double)r->n_heavy / CROWD), 1, 127);
}

/* Among few sources of a full link the margin is what leaves gaps on it when all of them are at
 * their tables' ends. Where each pair that it limits is known less will do; a slow receiver's gaps
 * are bridged by its buffer.
 */
uint32_t ibcc_law_extra_milli(const struct ibcc_root_parameters *r)
{
	return r->kind == IBCC_CONGESTION_INPUT && r->basis == IBCC_BASIS_LOGGED ? END_EXTRA_KNOWN
										 : END_EXTRA;
}

static double formula_end(const struct ibcc_root_parameters *r, uint32_t source_mbps)
{
	return (1 + IBCC_LAW_MARGIN_PERMILLE / 1000.0) *
		       ibcc_law_fair_milli(r->n, source_mbps, r->rate_mbps) +
	       ibcc_law_extra_milli(r);
}

uint32_t ibcc_law_end_milli(const struct ibcc_root_parameters *r, uint32_t source_mbps)
{
	return to_end(formula_end(r, source_mbps) * r->table_scale_permille / 1000);
}

uint32_t ibcc_law_source_mbps(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
			      uint32_t n_endports)
{
	uint32_t max = 1;

	for (uint32_t i = 0; i < n_endports; i++)
		if (r->member[i] && t->port[t->endport[i]].rate_mbps > max)
			max = t->port[t->endport[i]].rate_mbps;
	return max;
}

int ibcc_law_compute(const struct ibcc_root_parameters *r, uint32_t source_mbps,
		     uint32_t cap_entries, struct ibcc_law_out *out)
{
	struct ibcc_law_out o = { .increase = increase(r) };
	double timer;
	int ret;

	if (!r->n || !source_mbps || !r->packet_bytes || !r->rate_mbps || !r->n_heavy ||
	    cap_entries < IBCC_CCT_BLOCK_ENTRIES)
		return -EINVAL;

	o.fair_milli = ibcc_law_fair_milli(r->n, source_mbps, r->rate_mbps);
	o.end_milli = ibcc_law_end_milli(r, source_mbps);
	ret = ibcc_law_table(cap_entries, o.end_milli, &o.cct);
	if (ret)
		return ret;
	o.n_int_ns = (uint64_t)llround((double)r->n_heavy * r->packet_bytes * 8000 / r->rate_mbps);
	o.loop_ns = o.n_int_ns * r->timer_scale_permille / 1000;
	if (r->phase == IBCC_PHASE_DRAIN) {
		o.end_milli = to_end(formula_end(r, source_mbps) * IBCC_LAW_DRAIN_END);
		make_draining(&o.cct, o.end_milli);
		o.increase =
			(uint8_t)((o.cct.limit + IBCC_LAW_DRAIN_STEPS - 1) / IBCC_LAW_DRAIN_STEPS);
		o.loop_ns =
			(uint64_t)(r->interval_ns / DRAIN_TICKS * o.increase * IBCC_LAW_MARK_SHARE);
	}
	o.step_permille = (uint16_t)lround(
		1000 * -expm1(-(double)o.increase * log1p(IBCC_CCT_MAX_DELAY_MILLI / 1000.0) /
			      (n_entries(cap_entries) - 1)));
	timer = (double)o.loop_ns / (IBCC_LAW_MARK_SHARE * o.increase * IBCC_FORMULA_TIMER_UNIT_NS);
	o.timer = (uint16_t)clamp(ceil(timer), 1, UINT16_MAX);
	o.mark_permille = ibcc_formula_mark_share_permille(o.n_int_ns, o.increase, o.timer);
	*out = o;
	return 0;
}
