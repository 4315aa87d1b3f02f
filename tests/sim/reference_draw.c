/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random cases for the engine and the reference (reference_draw.h). */
#include "tests/unit/engines.h"

#include "reference_draw.h"

#include <ibcc/rng.h>

static unsigned int among(uint64_t *rng, unsigned int low, unsigned int high)
{
	return low + ibcc_rng_below(rng, high - low + 1);
}

static bool percent(uint64_t *rng, unsigned int p)
{
	return ibcc_rng_below(rng, 100) < p;
}

/* Hosts at switches in a line, or at the two leaves of a tree. */
static void draw_fabric(struct ref_case *c, uint64_t *rng)
{
	static const uint32_t rates[] = { 8000, 16000, 32000, 54545, 96969 };
	uint32_t rate = rates[ibcc_rng_below(rng, 5)];
	bool mixed = percent(rng, 30), tree;
	unsigned int masked = ibcc_rng_below(rng, 3), at;

	c->n_hosts = among(rng, 2, 9);
	c->n_switches = among(rng, 1, 3);
	tree = c->n_switches == 3 && percent(rng, 50);
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		at = tree ? among(rng, 1, 2) : ibcc_rng_below(rng, c->n_switches);
		c->link[c->n_links++] =
			(struct ref_link){ .end = { i, c->n_hosts + at },
					   .rate = mixed && percent(rng, 40) ? rate / 4 : rate,
					   .victim_mask[1] = masked > 0 };
	}
	for (unsigned int i = 1; i < c->n_switches; i++)
		c->link[c->n_links++] =
			(struct ref_link){ .end = { c->n_hosts + (tree ? 0 : i - 1),
						    c->n_hosts + i },
					   .rate = percent(rng, 70) ? rate : rate * 2,
					   .victim_mask = { masked > 1, masked > 1 } };
}

static void draw_model(struct ref_case *c, uint64_t *rng)
{
	c->packet = 256u << ibcc_rng_below(rng, 5);
	c->header = 26;
	c->cnp = 30;
	/* From two packets on: with less, a link with its delays stands still most of the time. */
	c->switch_buffer = (c->packet + 64) * among(rng, 2, percent(rng, 50) ? 6 : 40);
	c->host_buffer = (c->packet + 64) * among(rng, 2, percent(rng, 50) ? 6 : 40);
	c->link_delay = percent(rng, 80) ? 25000 : ibcc_rng_below(rng, 1000000);
	c->switch_delay = ibcc_rng_below(rng, 200001);
	c->credit_delay = ibcc_rng_below(rng, 200001);
	c->becn_delay = percent(rng, 80) ? 1000000 : ibcc_rng_below(rng, 5000000);
	c->round_robin = percent(rng, 50);
	for (unsigned int i = 0; i < c->n_hosts; i++)
		if (percent(rng, 15))
			c->sink[i] = c->link[i].rate / 100 * among(rng, 20, 95);
}

static void draw_cc(struct ref_case *c, uint64_t *rng)
{
	unsigned int step = among(rng, 1, 8);

	if (percent(rng, 30))
		return;
	c->threshold = among(rng, 1, 15);
	c->mark_reference =
		percent(rng, 50) ? c->switch_buffer : (c->packet + 64) * among(rng, 4, 64);
	c->hysteresis = ibcc_rng_below(rng, 1001);
	c->packet_size = percent(rng, 90) ? 0 : among(rng, 1, 64);
	c->marking_rate = percent(rng, 60) ? 0 : among(rng, 1, 10);
	c->per_sl = percent(rng, 30);
	c->increase = among(rng, 1, 6);
	c->timer = percent(rng, 90) ? among(rng, 1, 150) : 0;
	c->min = percent(rng, 80) ? 0 : among(rng, 1, 8);
	c->limit = among(rng, 1, 127);
	for (unsigned int i = 1; i <= c->limit; i++)
		c->cct[i] = (struct ref_entry){ step % 4, i * step };
}

static void draw_profile(struct ibcc_dcqcn_profile *p, const struct ref_case *c, uint64_t *rng)
{
	uint32_t packet = c->packet + c->header;

	p->percentage = percent(rng, 25);
	p->min = p->percentage ? among(rng, 0, 30) : packet * among(rng, 0, 4);
	p->max = p->min + (p->percentage ? among(rng, 0, 60) : packet * among(rng, 0, 16));
	p->percent = (uint8_t)among(rng, 0, 100);
}

/* Clocks are short, so that much happens in the window. */
static void draw_dcqcn(struct draw *d, uint64_t *rng)
{
	const struct ref_case *c = &d->c;
	struct ibcc_dcqcn *q = &d->d;
	struct ibcc_dcqcn_rp *p = &q->rp;
	uint32_t rate = c->link[0].rate;

	q->enabled = true;
	q->aqs_weight = (uint8_t)among(rng, 0, 6);
	q->aqs_time = (uint8_t)among(rng, 0, 4);
	q->source_only = percent(rng, 30);
	draw_profile(&q->profile[0], c, rng);
	draw_profile(&q->profile[1], c, rng);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		q->sl2profile[sl] = (uint8_t)(percent(rng, 80) ? 1 : among(rng, 0, 2));
	q->cnp_per_port = percent(rng, 30);
	q->min_time_between_cnps_us = percent(rng, 50) ? 0 : among(rng, 1, 50);
	q->cnp_sl = IBCC_DCQCN_PACKET_SL;
	q->shaper_per_lid = percent(rng, 40);
	p->rpg_time_reset_us = among(rng, 5, 100);
	p->rpg_byte_reset_bytes = percent(rng, 40) ? 0 : (c->packet + 64) * among(rng, 2, 100);
	p->rpg_threshold = among(rng, 0, 5);
	p->rpg_max_rate_mbps = percent(rng, 80) ? 0 : rate / 100 * among(rng, 30, 120);
	p->rpg_ai_rate_mbps = rate / 1000 * among(rng, 0, 20);
	p->rpg_hai_rate_mbps = p->rpg_ai_rate_mbps * among(rng, 1, 10);
	p->rpg_gd = percent(rng, 70) ? 11 : among(rng, 9, 13);
	p->rpg_min_dec_fac = percent(rng, 50) ? 50 : among(rng, 1, 100);
	p->rpg_min_rate_mbps = rate / 1000 * among(rng, 1, 50);
	p->rate_to_set_on_first_cnp_mbps = percent(rng, 80) ? 0 : rate / 100 * among(rng, 10, 100);
	p->dce_tcp_g = percent(rng, 80) ? among(rng, 900, 1023) : among(rng, 1, 1023);
	p->dce_tcp_rtt_us = among(rng, 1, 20);
	p->rate_reduce_monitor_period_us = among(rng, 1, 20);
	p->initial_alpha_value = percent(rng, 70) ? 1023 : among(rng, 0, 1023);
	p->clamp_tgt_rate = percent(rng, 40);
	p->clamp_tgt_rate_after_time_inc = percent(rng, 60);
}

static struct ref_dcqcn dcqcn_of(const struct ibcc_dcqcn *q, const struct ref_case *c)
{
	const struct ibcc_dcqcn_rp *p = &q->rp;
	struct ref_dcqcn d = {
		.on = true,
		.weight = ldexp(1, -q->aqs_weight),
		.step = 64000ull << q->aqs_time,
		.source_only = q->source_only,
		.cnp_per_host = q->cnp_per_port,
		.cnp_gap = q->min_time_between_cnps_us * 1000000ull,
		.per_lid = q->shaper_per_lid,
		.alpha = p->dce_tcp_rtt_us * 1000000ull,
		.look = p->rate_reduce_monitor_period_us * 1000000ull,
		.grow = p->rpg_time_reset_us * 1000000ull,
		.grow_bytes = p->rpg_byte_reset_bytes,
		.fast = p->rpg_threshold,
		.rise = p->rpg_ai_rate_mbps,
		.leap = p->rpg_hai_rate_mbps,
		.most = p->rpg_max_rate_mbps,
		.least = p->rpg_min_rate_mbps,
		.first = p->rate_to_set_on_first_cnp_mbps,
		.gain = (1024 - p->dce_tcp_g) / 1024.0,
		.first_alpha = p->initial_alpha_value / 1024.0,
		.depth = ldexp(1024, -(int)p->rpg_gd),
		.floor = p->rpg_min_dec_fac / 100.0,
		.clamp = p->clamp_tgt_rate,
		.clamp_after_time = p->clamp_tgt_rate_after_time_inc,
	};

	for (unsigned int i = 0; i < 2; i++) {
		const struct ibcc_dcqcn_profile *f = &q->profile[i];
		double unit = f->percentage ? c->mark_reference / 100.0 : 1;

		d.profile[i] = (struct ref_profile){ f->percentage, f->min * unit, f->max * unit,
						     f->percent };
	}
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		d.profile_of[sl] = q->sl2profile[sl];
	return d;
}

static void draw_flow(struct ref_case *c, uint64_t *rng)
{
	struct ref_flow *f = &c->flow[c->n_flows];

	f->from = ibcc_rng_below(rng, c->n_hosts);
	f->to = percent(rng, 50) ? 0 : ibcc_rng_below(rng, c->n_hosts);
	f->sl = percent(rng, 80) ? 0 : among(rng, 1, 15);
	f->arrivals = ibcc_rng_below(rng, 3);
	f->rate = c->link[f->from].rate / 100 * among(rng, 4, 100);
	if (f->from == f->to)
		return;
	for (unsigned int i = 0; i < c->n_flows; i++)
		if (c->flow[i].from == f->from && c->flow[i].to == f->to && c->flow[i].sl == f->sl)
			return;
	c->n_flows++;
}

static void draw_messages(struct ref_flow *f, uint64_t *rng)
{
	if (f->arrivals != REF_BACKLOGGED || percent(rng, 50))
		return;
	f->arrivals = REF_CLOSED;
	f->message = among(rng, 1, 20);
	f->window = among(rng, 1, REF_OPEN);
}

/* Sinks become slow, slower or fast, most of them in the window. */
/* Of sinks. There is room for more changes, so that links can change, too. */
enum { SINK_CHANGES = 4 };

static void draw_changes(struct draw *d, uint64_t *rng)
{
	d->c.n_changes = among(rng, 1, SINK_CHANGES);
	for (unsigned int i = 0; i < d->c.n_changes; i++) {
		unsigned int host = ibcc_rng_below(rng, d->c.n_hosts);

		d->c.change[i] = (struct ref_change){
			.at = d->until / 1000 * among(rng, 1, 950),
			.port = 2 * host,
			.value = percent(rng, 30) ? 0
						  : d->c.link[host].rate / 100 * among(rng, 20, 95),
		};
	}
}

/* What came later. It is drawn last, so that the rest of a case stays as it was. */
static void draw_more(struct draw *d, uint64_t *rng)
{
	struct ref_case *c = &d->c;
	unsigned int halves = 1;

	/* Shorter packets of some flows, down to 64 bytes. */
	while (c->packet >> halves > 64)
		halves++;
	if (percent(rng, 30))
		for (unsigned int i = 0; i < c->n_flows; i++)
			if (percent(rng, 50))
				c->flow[i].packet = c->packet >> among(rng, 1, halves);
	if (percent(rng, 30))
		for (unsigned int i = 0; i < c->n_hosts + c->n_switches; i++)
			if (percent(rng, 40))
				c->buffer[i] = (c->packet + 64) * among(rng, 2, 40);
	c->fifo = percent(rng, 25);
	if (percent(rng, 30))
		draw_changes(d, rng);
	for (unsigned int i = 0; i < c->n_flows; i++)
		draw_messages(&c->flow[i], rng);
}

struct draw ref_draw(uint64_t seed, bool dcqcn, bool plain)
{
	struct draw d = { 0 };
	uint64_t rng = seed, packet_ps;
	unsigned int tries;

	draw_fabric(&d.c, &rng);
	draw_model(&d.c, &rng);
	if (dcqcn) {
		d.c.mark_reference = d.c.switch_buffer;
		draw_dcqcn(&d, &rng);
		d.c.dcqcn = dcqcn_of(&d.d, &d.c);
	} else {
		draw_cc(&d.c, &rng);
	}
	tries = among(&rng, 1, 2 * d.c.n_hosts);
	for (unsigned int i = 0; i < tries || !d.c.n_flows; i++)
		draw_flow(&d.c, &rng);
	packet_ps = (d.c.packet + d.c.header) * 8000000ull / d.c.link[d.c.n_links - 1].rate;
	d.from = 500 * packet_ps;
	d.until = d.from + 2000 * packet_ps;
	d.c.acks = percent(&rng, 30);
	if (!plain)
		draw_more(&d, &rng);
	return d;
}

static void draw_table(struct ref_table *t, const struct ref_case *c, uint64_t *rng)
{
	t->n = among(rng, 0, REF_ENTRIES - REF_VLS);
	for (unsigned int i = 0; i < t->n; i++)
		t->entry[i] =
			(struct ref_table_entry){ ibcc_rng_below(rng, c->vls),
						  (int)among(rng, 0, percent(rng, 70) ? 255 : 8) };
}

static bool is_there(const struct ref_case *c, const struct ref_flow *f, unsigned int sl)
{
	for (unsigned int i = 0; i < c->n_flows; i++)
		if (c->flow[i].from == f->from && c->flow[i].to == f->to && c->flow[i].sl == sl)
			return true;
	return false;
}

static void draw_vls(struct ref_case *c, uint64_t *rng)
{
	c->vls = among(rng, 2, REF_VLS);
	for (unsigned int i = 0; i < c->n_flows; i++) {
		unsigned int sl = ibcc_rng_below(rng, 16);

		if (!is_there(c, &c->flow[i], sl))
			c->flow[i].sl = sl;
	}
	c->maps = percent(rng, 60);
	for (unsigned int i = 0; c->maps && i < c->n_links; i++)
		for (unsigned int k = 0; k < c->n_links; k++)
			for (unsigned int sl = 0; sl < 16; sl++)
				c->vl[i][k][sl] = (unsigned char)ibcc_rng_below(rng, c->vls);
	if (percent(rng, 40))
		return;
	draw_table(&c->high, c, rng);
	draw_table(&c->low, c, rng);
	/* Each VL is served by one of them. */
	for (unsigned int vl = 0; vl < c->vls; vl++) {
		struct ref_table *t = percent(rng, 50) ? &c->high : &c->low;

		t->entry[t->n++] = (struct ref_table_entry){ vl, (int)among(rng, 1, 255) };
	}
	c->high_limit = percent(rng, 20) ? 255 : (int)ibcc_rng_below(rng, 10);
}

/* The headroom takes what comes until PAUSE has an effect, and two packets; buffers have as much
 * above XON. With one more packet a port can be let go on again.
 */
static void draw_pause(struct ref_case *c, uint64_t *rng)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < c->n_links; i++)
		most = c->link[i].rate > most ? c->link[i].rate : most;
	c->pause.on = true;
	c->pause.headroom = (uint32_t)((2 * c->link_delay + c->switch_delay + c->credit_delay) *
				       most / 8000000) +
			    3 * (c->packet + 64);
	c->pause.xon = among(rng, 0, 500);
	for (unsigned int i = 0; i < REF_NODES; i++)
		if (c->buffer[i])
			c->buffer[i] += 2 * c->pause.headroom;
	c->switch_buffer += 2 * c->pause.headroom;
	c->host_buffer += 2 * c->pause.headroom;
}

struct draw ref_draw_lanes(uint64_t seed, bool dcqcn)
{
	struct draw d = ref_draw(seed, dcqcn, false);
	uint64_t rng = seed ^ 0x6c616e65;

	if (percent(&rng, 25))
		draw_pause(&d.c, &rng);
	else
		draw_vls(&d.c, &rng);
	return d;
}

/* Each node gets the lowest number of those that links join it to. */
static void find_islands(const struct ref_case *c, unsigned int island[REF_NODES])
{
	for (unsigned int i = 0; i < REF_NODES; i++)
		island[i] = i;
	for (unsigned int n = 0; n < c->n_links; n++)
		for (unsigned int i = 0; i < c->n_links; i++) {
			unsigned int *a = &island[c->link[i].end[0]];
			unsigned int *b = &island[c->link[i].end[1]];

			*a = *b = *a < *b ? *a : *b;
		}
}

/* Hosts of the island that a host is in. */
static unsigned int n_joined(const struct ref_case *c, unsigned int host)
{
	unsigned int island[REF_NODES], n = 0;

	find_islands(c, island);
	for (unsigned int i = 0; i < c->n_hosts; i++)
		n += island[i] == island[host];
	return n;
}

static bool are_joined(const struct ref_case *c, unsigned int a, unsigned int b)
{
	unsigned int island[REF_NODES];

	find_islands(c, island);
	return island[a] == island[b];
}

/* Takes a link between switches away, unless all flows would be from hosts that are alone. */
static void draw_cut(struct ref_case *c, uint64_t *rng)
{
	const struct ref_case whole = *c;
	bool any = false;

	if (c->n_links > c->n_hosts)
		c->n_links--;
	if (c->n_links > c->n_hosts && percent(rng, 50))
		c->link[c->n_hosts] = c->link[c->n_links];
	for (unsigned int i = 0; i < c->n_flows; i++)
		any |= n_joined(c, c->flow[i].from) > 1;
	if (!any)
		*c = whole;
}

/* More flows, some of them with the same hosts and service level, and flows to all. */
static void draw_to_all(struct ref_case *c, uint64_t *rng)
{
	unsigned int share = among(rng, 20, 100), more = among(rng, 0, c->n_hosts), n = 0;

	for (unsigned int i = 0; i < more && c->n_flows < REF_FLOWS; i++) {
		struct ref_flow *f = &c->flow[c->n_flows++];

		*f = c->flow[ibcc_rng_below(rng, c->n_flows - 1)];
		f->arrivals = ibcc_rng_below(rng, 3);
		f->rate = c->link[f->from].rate / 100 * among(rng, 4, 100);
	}
	for (unsigned int i = 0; i < c->n_flows; i++) {
		struct ref_flow *f = &c->flow[i];
		unsigned int joined = n_joined(c, f->from);

		if (joined > 1 && (percent(rng, share) || !are_joined(c, f->from, f->to))) {
			f->all = true;
			f->to = joined < 3 || percent(rng, 70) ? f->from
							       : ibcc_rng_below(rng, c->n_hosts);
			if (!are_joined(c, f->from, f->to))
				f->to = f->from;
		}
		/* Gaps are no multiples of a packet's time: what of two things that happen just at
		 * the same time comes first is a choice of the engine.
		 */
		f->rate += among(rng, 1, 19);
		draw_messages(f, rng);
		if (f->all || are_joined(c, f->from, f->to))
			c->flow[n++] = *f;
	}
	c->n_flows = n;
}

static void draw_path_sls(struct ref_case *c, uint64_t *rng)
{
	unsigned int n = among(rng, 1, 6), sl[6];

	c->paths = true;
	for (unsigned int i = 0; i < n; i++)
		sl[i] = ibcc_rng_below(rng, REF_SLS);
	for (unsigned int i = 0; i < c->n_hosts; i++)
		for (unsigned int k = 0; k < c->n_hosts; k++)
			c->path_sl[i][k] = (unsigned char)sl[ibcc_rng_below(rng, n)];
}

static void draw_times(struct draw *d, uint64_t *rng)
{
	uint64_t most = d->until / 10;

	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		struct ref_flow *f = &d->c.flow[i];

		if (percent(rng, 30)) {
			f->on = 1 + ibcc_rng_next(rng) % most;
			f->off = 1 + ibcc_rng_next(rng) % most;
		}
		if (percent(rng, 10))
			f->stop = d->until / 1000 * among(rng, 100, 950);
	}
}

/* A link becomes slower or longer, at one end or both, or goes down, mostly for a while. With
 * PAUSE, the headroom is for links as they are.
 */
static void draw_links(struct draw *d, uint64_t *rng)
{
	struct ref_case *c = &d->c;
	unsigned int n = among(rng, 1, 4);

	for (unsigned int i = 0; i < n && c->n_changes + 2 <= REF_CHANGES; i++) {
		struct ref_change *v = &c->change[c->n_changes++];

		v->at = d->until / 1000 * among(rng, 1, 950);
		v->port = ibcc_rng_below(rng, 2 * c->n_links);
		v->what = REF_RATE + (c->pause.on && percent(rng, 50) ? 0 : ibcc_rng_below(rng, 4));
		v->value = c->link[v->port / 2].rate / 4 * among(rng, 1, 4);
		if (v->what == REF_LONGER && c->pause.on)
			v->what = REF_DOWN;
		if (v->what == REF_LONGER)
			v->value = percent(rng, 30) ? 0 : ibcc_rng_below(rng, 2000000);
		if (v->what != REF_DOWN || percent(rng, 20))
			continue;
		c->change[c->n_changes++] =
			(struct ref_change){ .at = v->at + 1 +
						   ibcc_rng_next(rng) %
							   (percent(rng, 50) ? 2000000 : d->from),
					     .what = REF_UP,
					     .port = v->port };
	}
}

struct draw ref_draw_all(uint64_t seed, bool dcqcn)
{
	uint64_t rng = seed ^ 0x616c6c;
	struct draw d = ref_draw(seed, dcqcn, percent(&rng, 50));
	unsigned int lanes = ibcc_rng_below(&rng, 100);

	if (percent(&rng, 15))
		draw_cut(&d.c, &rng);
	if (lanes < 20)
		draw_pause(&d.c, &rng);
	else if (lanes < 65)
		draw_vls(&d.c, &rng);
	draw_to_all(&d.c, &rng);
	if (percent(&rng, 60))
		draw_path_sls(&d.c, &rng);
	if (percent(&rng, 40))
		draw_times(&d, &rng);
	if (percent(&rng, 40))
		draw_links(&d, &rng);
	if (dcqcn && percent(&rng, 20)) {
		d.d.cnp_sl = (uint8_t)ibcc_rng_below(&rng, REF_SLS);
		d.c.dcqcn.cnp_own_sl = true;
		d.c.dcqcn.cnp_sl = d.d.cnp_sl;
	}
	return d;
}

/* Where the generator of a switch's port and VL starts, by which the engine draws what passes
 * between marks. */
static uint64_t mark_seed(const struct ref_case *c, uint64_t engine, unsigned int node,
			  unsigned int num, unsigned int vl)
{
	uint64_t port = 2 * c->n_hosts + (REF_SWITCH_PORTS + 1) * (node - c->n_hosts) + num;
	uint64_t place = port * (c->vls ? c->vls : 1) + vl;

	return (engine ^ (c->dcqcn.on ? 0x6463 : 0x6d61726b)) + (place << 32);
}

static unsigned int upto(uint64_t *state, unsigned int n)
{
	return ibcc_rng_below(state, n + 1);
}

static uint64_t exponential(uint64_t *state, uint64_t mean)
{
	static uint32_t table[257];

	for (unsigned int i = 0; !table[256] && i <= 256; i++)
		table[i] = (uint32_t)lround(log(1 + i / 256.0) * (1 << 24));
	return ibcc_rng_exponential(table, state, mean);
}

void ref_vary(struct draw *d, uint64_t seed)
{
	unsigned int used[REF_NODES] = { 0 }, node;
	uint64_t rng = ~seed, engine = seed, of_flow;

	engine = ibcc_rng_next(&engine);
	d->c.gap = exponential;
	d->c.upto = upto;
	for (unsigned int i = 0; i < 2 * d->c.n_links; i++) {
		node = d->c.link[i / 2].end[i % 2];
		used[node]++;
		for (unsigned int vl = 0; vl < REF_VLS && node >= d->c.n_hosts; vl++)
			d->c.link[i / 2].mark_seed[i % 2][vl] =
				mark_seed(&d->c, engine, node, used[node], vl);
	}
	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		of_flow = engine ^ (uint64_t)i << 32;
		d->c.flow[i].seed = ibcc_rng_next(&of_flow);
		d->c.flow[i].to_seed = ibcc_rng_next(&of_flow);
		/* The engine draws three hosts in advance, which only paced and closed flows use.
		 */
		for (unsigned int k = 0; k < 3 && d->c.flow[i].arrivals == REF_BACKLOGGED; k++)
			ibcc_rng_next(&d->c.flow[i].to_seed);
		d->c.flow[i].start = ibcc_rng_next(&rng) % (d->from / 10);
	}
}
