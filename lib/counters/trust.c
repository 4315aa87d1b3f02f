/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a port's counters are believed: they are compared with those at the other end of its
 * link, and with what is possible. ibcc_trust_judge() does that for all ports once in a pass.
 *
 * Honest counts of the same packets differ only by what was under way at the first and at the
 * last reading, and that does not grow with time. So the two ends are not compared in each
 * interval, but over a window. It lasts until the possible difference of honest ends is small
 * beside what was sent. The ends must differ in the same direction in several windows in a row
 * (struct ibcc_finding) before a port is distrusted.
 *
 * If two ends contradict each other, the counters do not say which one is wrong. A node that
 * several neighbours contradict is blamed first (blame_nodes()); for the rest, what was sent is
 * distrusted.
 */
#include <ibcc/trust.h>

#include <math.h>

#include <ibcc/link.h>
#include <ibcc/snapshot.h>
#include <ibcc/text.h>

#define TOLERANCE 0.25 /* share of the larger count by which honest counts may differ */
/* Bytes that may be under way between two ends and counted by one only: buffers and a long cable,
 * 256 KiB. They are there once, while findings add up over a run of windows.
 */
#define ON_ITS_WAY_BYTES (256u * 1024 / IBCC_TRUST_RUN)
#define LEAST_PACKET     IBCC_LINK_CREDIT_BYTES
/* Share of the time that a port can have sent and waited: rounding, and how exactly reading times
 * are known.
 */
#define TIME_MOST_PERMILLE  1100u
#define TIME_LEAST_PERMILLE 250u /* a port that is less busy is quiet */
/* Packets that may be under way at the first reading, whose marks are counted without them. */
#define ON_THEIR_WAY  (4096.0 / IBCC_TRUST_RUN)
#define MARKS_PACKETS (4 * ON_THEIR_WAY) /* enough to show whether marks are too many */
#define SAID_PORTS    4u                 /* ports that ibcc_trust_say() names */

/* OPEN: not decided yet. QUIET: nothing wrong is seen, but too little to prove it right. LESS,
 * MORE: the count is lower or higher than it can be.
 */
enum verdict { OPEN, QUIET, RIGHT, LESS, MORE };

/* Counters of the two ends that count the same, and the least bytes that a unit of them stands for.
 */
static const struct {
	enum ibcc_ctr sent, received;
	double unit_bytes;
} same[2] = {
	{ IBCC_CTR_XMIT_DATA, IBCC_CTR_RCV_DATA, 4 },
	{ IBCC_CTR_XMIT_PKTS, IBCC_CTR_RCV_PKTS, LEAST_PACKET },
};

/* Adds a verdict to a finding. IBCC_TRUST_RUN wrong ones in a row and in one direction make it
 * stand; as many right or quiet ones end it.
 */
static void note(struct ibcc_finding *f, enum verdict v)
{
	switch (v) {
	case OPEN: return;
	case QUIET:
	case RIGHT:
		if (v == RIGHT)
			f->run = 0;
		f->clean += f->clean < IBCC_TRUST_RUN;
		f->stands &= f->clean < IBCC_TRUST_RUN;
		return;
	case LESS:
	case MORE:
		if (f->more != (v == MORE))
			f->run = 0;
		f->more = v == MORE;
		f->clean = 0;
		f->run += f->run < IBCC_TRUST_RUN;
		f->stands |= f->run >= IBCC_TRUST_RUN;
		return;
	}
}

/* Adds a pass to the tallies of a port's window. If a port was not read, its next difference spans
 * both passes, so the window goes on.
 */
static void count(struct ibcc_port_sample *s)
{
	for (unsigned int c = 0; c < sizeof(s->trust.tally) / sizeof(s->trust.tally[0]); c++) {
		struct ibcc_tally *y = &s->trust.tally[c];

		if (s->state == IBCC_SAMPLE_FRESH && ibcc_delta_exact(&s->delta, (enum ibcc_ctr)c))
			y->sum += s->delta.v[c];
		else if (s->state != IBCC_SAMPLE_STALE && s->state != IBCC_SAMPLE_KEPT)
			y->from_ns = 0;
	}
}

static void begin_window(struct ibcc_tally *y, const struct ibcc_port_sample *s)
{
	bool read = s->state != IBCC_SAMPLE_NONE && s->state != IBCC_SAMPLE_UNREACHABLE;

	*y = (struct ibcc_tally){ .from_ns = read ? s->read_ns : 0 };
}

static double apart_ns(uint64_t a, uint64_t b)
{
	return (double)(a > b ? a - b : b - a);
}

/* Compares two counts of the same packets, which may differ by `most` if both are honest. */
static enum verdict weigh(double a, double b, double most)
{
	double larger = fmax(a, b);

	if (fabs(a - b) > most + TOLERANCE * larger)
		return a > b ? MORE : LESS;
	return TOLERANCE * larger > most ? RIGHT : OPEN;
}

/* Whether both ends count about the same in this interval. That may be chance, which is why there
 * are windows. An idle link counts as agreement: it can do no harm. And it may stay idle until its
 * ports are believed again, since the BECNs of a held root can be all that is sent there.
 */
static bool agree_now(const struct ibcc_port_sample *a, const struct ibcc_port_sample *b,
		      unsigned int k)
{
	double x = (double)a->delta.v[same[k].sent], y = (double)b->delta.v[same[k].received];

	return a->state == IBCC_SAMPLE_FRESH && b->state == IBCC_SAMPLE_FRESH &&
	       ibcc_delta_exact(&a->delta, same[k].sent) &&
	       ibcc_delta_exact(&b->delta, same[k].received) &&
	       fabs(x - y) <= TOLERANCE * fmax(x, y);
}

/* Whether a distrusted port has agreed for some intervals while its window is still open. With few
 * packets a window takes dozens of intervals, and it still holds the wrong ones at its beginning.
 */
static bool is_quiet(struct ibcc_finding *f, const struct ibcc_port_sample *a,
		     const struct ibcc_port_sample *b, unsigned int k)
{
	if (!f->stands)
		return false;
	if (!agree_now(a, b, k))
		f->clean = 0;
	else
		note(f, QUIET);
	return !f->stands;
}

/* Compares what a port has sent with what came in at the other end, by counter pair k. */
static void compare_ends(const struct ibcc_topo *t, struct ibcc_snapshot *s, uint32_t port,
			 unsigned int k)
{
	struct ibcc_port_sample *a = &s->port[port], *b = &s->port[t->port[port].peer];
	struct ibcc_tally *x = &a->trust.tally[same[k].sent];
	struct ibcc_tally *y = &b->trust.tally[same[k].received];

	/* One end was left out of this pass: the window goes on until both are read again. */
	if (a->state == IBCC_SAMPLE_KEPT || b->state == IBCC_SAMPLE_KEPT)
		return;
	if (x->from_ns && y->from_ns) {
		double ns = apart_ns(x->from_ns, y->from_ns) + apart_ns(a->read_ns, b->read_ns);
		double bytes = ns * ibcc_topo_link_mbps(t, port) / 8000 + ON_ITS_WAY_BYTES;
		enum verdict v = weigh((double)x->sum, (double)y->sum, bytes / same[k].unit_bytes);

		if (v == OPEN && !is_quiet(&a->trust.link[k], a, b, k))
			return;
		/* Agreement over a window is no chance: it has four times as much as honest ends
		 * may differ by, and takes many intervals if little is sent.
		 */
		if (v == RIGHT)
			a->trust.link[k] = (struct ibcc_finding){ 0 };
		else
			note(&a->trust.link[k], v);
		a->trust.compared = true;
	}
	begin_window(x, a);
	begin_window(y, b);
}

/* Checks that a port did not send, wait and receive for longer than the interval lasted. */
static enum verdict look_at_time(const struct ibcc_topo *t, const struct ibcc_port_sample *s,
				 uint32_t port)
{
	uint32_t busy, rate = ibcc_topo_link_mbps(t, port);
	uint64_t received = 0;

	if (s->state != IBCC_SAMPLE_FRESH || !rate)
		return OPEN;
	busy = ibcc_delta_busy_permille(&s->delta, s->tick_ps, t->port[port].rate_mbps);
	if (ibcc_delta_exact(&s->delta, IBCC_CTR_RCV_DATA))
		received = 1000ull * ibcc_delta_rcv_mbps(&s->delta) / rate;
	if (busy > TIME_MOST_PERMILLE || received > TIME_MOST_PERMILLE)
		return MORE;
	/* A distrusted port must be able to be believed again, even if it falls quiet. But quiet
	 * intervals do not break the run of impossible ones.
	 */
	return busy >= TIME_LEAST_PERMILLE || received >= TIME_LEAST_PERMILLE ? RIGHT : QUIET;
}

/* Whether both ends of one direction count more than the link's rate. */
static bool is_beyond_rate(const struct ibcc_port_sample *from, const struct ibcc_port_sample *to,
			   uint64_t rate_mbps)
{
	uint64_t most = rate_mbps * TIME_MOST_PERMILLE / 1000;

	return ibcc_delta_exact(&from->delta, IBCC_CTR_XMIT_DATA) &&
	       ibcc_delta_exact(&to->delta, IBCC_CTR_RCV_DATA) &&
	       ibcc_delta_xmit_mbps(&from->delta) > most && ibcc_delta_rcv_mbps(&to->delta) > most;
}

/* Whether both ends count more than the link can carry. It is unlikely that both are wrong in the
 * same way: then the link's rate is what was reported wrongly.
 */
static bool exceeds_rate(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_port_sample *a = &s->port[port], *b = &s->port[t->port[port].peer];
	uint32_t rate = ibcc_topo_link_mbps(t, port);

	return b->state == IBCC_SAMPLE_FRESH &&
	       (is_beyond_rate(a, b, rate) || is_beyond_rate(b, a, rate));
}

/* Checks marks against packets: packets with a FECN are a part of those received, and each packet
 * sent brings one BECN at most. Honest marks exceed the packets since the first reading only by
 * those that were under way at that time.
 */
static void look_at_marks(struct ibcc_mark_excess *x, const struct ibcc_port_sample *s,
			  enum ibcc_ctr marks, enum ibcc_ctr packets)
{
	enum verdict v = OPEN;
	double n, more;

	if (s->state != IBCC_SAMPLE_FRESH || !ibcc_delta_exact(&s->delta, marks) ||
	    !ibcc_delta_exact(&s->delta, packets))
		return;
	n = (double)s->delta.v[packets];
	more = (double)s->delta.v[marks] - (1 + TOLERANCE) * n;
	x->packets += n;
	x->marks = fmax(x->marks + more, 0);
	if (x->marks > ON_THEIR_WAY)
		v = MORE;
	else if (x->packets > MARKS_PACKETS)
		v = RIGHT;
	else if (more <= 0)
		v = QUIET; /* a port that sends little would not get RIGHT for hours */
	note(&x->finding, v);
	if (v == MORE || v == RIGHT)
		x->marks = x->packets = 0;
}

static bool is_linked(const struct ibcc_topo *t, uint32_t port)
{
	return t->port[port].num && t->port[port].peer != IBCC_NONE;
}

/* Whether a port's sent counters stand as contradicted by the other end. */
static bool sends_wrong(const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_trust *r = &s->port[port].trust;

	return r->link[0].stands || r->link[1].stands;
}

/* Whether the two ends of a port's link contradict each other, in either direction. */
static bool is_contradicted(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	return is_linked(t, port) && (sends_wrong(s, port) || sends_wrong(s, t->port[port].peer));
}

static bool is_doubted(const struct ibcc_snapshot *s, uint32_t port)
{
	return s->port[port].trust.doubt != IBCC_DOUBT_NONE;
}

/* Whether a port is contradicted by a neighbour that is itself believed. */
static bool is_accused(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	return is_contradicted(t, s, port) && !is_doubted(s, t->port[port].peer);
}

/* Whether a lower port of the same node is contradicted by the same neighbour, which then counts
 * once.
 */
static bool accused_by_before(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			      uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];
	uint32_t by = t->port[t->port[port].peer].node;

	for (uint32_t p = n->first_port + 1; p < port; p++)
		if (is_accused(t, s, p) && t->port[t->port[p].peer].node == by)
			return true;
	return false;
}

/* On how many links a node is contradicted; 0 unless several neighbours contradict it, and on most
 * of its links that could be compared.
 */
static uint32_t accusations(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	uint32_t links = 0, compared = 0, neighbours = 0;

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		if (!is_linked(t, p))
			continue;
		compared += s->port[p].trust.compared || s->port[t->port[p].peer].trust.compared;
		if (!is_accused(t, s, p))
			continue;
		links++;
		neighbours += !accused_by_before(t, s, p);
	}
	return neighbours >= 2 && 2 * links > compared ? links : 0;
}

/* Blames the nodes that are contradicted on most links, and distrusts all their ports. That may
 * explain the contradictions of their neighbours, so the caller repeats it until it returns false.
 */
static bool blame_nodes(const struct ibcc_topo *t, struct ibcc_snapshot *s)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct ibcc_trust *r = &s->port[t->node[i].first_port].trust;
		uint32_t n = r->blamed ? 0 : accusations(t, s, i);

		most = n > most ? n : most;
	}
	if (!most)
		return false;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct ibcc_trust *r = &s->port[t->node[i].first_port].trust;

		r->blamed |= accusations(t, s, i) == most;
	}
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (is_linked(t, i) && !is_doubted(s, i) &&
		    s->port[t->node[t->port[i].node].first_port].trust.blamed)
			s->port[i].trust.doubt = IBCC_DOUBT_NODE;
	return true;
}

/* Decides which ports are distrusted, and why. First ports whose counters are impossible in
 * themselves, then nodes that several neighbours contradict, then the sending ends of the links
 * that remain. For those it is not known which end is wrong. But no decision rests on what was
 * received, and what the other end sends is not in question.
 */
static void doubt(const struct ibcc_topo *t, struct ibcc_snapshot *s)
{
	bool contradicted = false;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct ibcc_trust *r = &s->port[i].trust;
		bool marks = r->fecn.finding.stands || r->becn.finding.stands;

		r->blamed = false;
		r->doubt = IBCC_DOUBT_NONE;
		if (r->time.stands)
			r->doubt = r->beyond_rate ? IBCC_DOUBT_RATE : IBCC_DOUBT_TIME;
		else if (marks)
			r->doubt = IBCC_DOUBT_MARKS;
		else if (r->log.stands)
			r->doubt = IBCC_DOUBT_LOG;
		contradicted |= sends_wrong(s, i);
	}
	while (contradicted && blame_nodes(t, s))
		;
	for (uint32_t i = 0; contradicted && i < t->n_ports; i++) {
		enum ibcc_doubt *peer = &s->port[t->port[i].peer].trust.doubt;

		if (is_linked(t, i) && sends_wrong(s, i) && !is_doubted(s, i) &&
		    (*peer == IBCC_DOUBT_NONE || *peer == IBCC_DOUBT_LINK))
			s->port[i].trust.doubt = IBCC_DOUBT_LINK;
	}
}

void ibcc_trust_log(struct ibcc_trust *r, bool contradicted)
{
	note(&r->log, contradicted ? MORE : RIGHT);
}

/* Whether a node was left out of this pass. */
static bool is_left_out(const struct ibcc_topo_node *n, const struct ibcc_snapshot *s)
{
	bool kept = false, read = false;

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		kept |= s->port[p].state == IBCC_SAMPLE_KEPT;
		read |= s->port[p].state == IBCC_SAMPLE_FRESH;
	}
	return kept && !read;
}

/* A distrusted log without new entries can do no harm: such passes count towards believing it
 * again. */
static void look_at_silent_logs(const struct ibcc_topo *t, struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct ibcc_finding *f = &s->port[t->node[i].first_port].trust.log;
		bool tells = false;

		for (uint32_t k = 0; k < s->n_marks && f->stands; k++)
			tells |= s->mark[k].node == i;
		if (f->stands && !tells && !is_left_out(&t->node[i], s))
			note(f, QUIET);
	}
}

void ibcc_trust_judge(const struct ibcc_topo *t, struct ibcc_snapshot *s)
{
	if (s->n_ports != t->n_ports)
		return;
	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct ibcc_port_sample *p = &s->port[i];
		enum verdict v;

		count(p);
		if (!is_linked(t, i))
			continue;
		v = look_at_time(t, p, i);
		if (v == MORE)
			p->trust.beyond_rate = exceeds_rate(t, s, i);
		note(&p->trust.time, v);
		look_at_marks(&p->trust.fecn, p, IBCC_CTR_RCV_FECN, IBCC_CTR_RCV_PKTS);
		look_at_marks(&p->trust.becn, p, IBCC_CTR_RCV_BECN, IBCC_CTR_XMIT_PKTS);
	}
	for (uint32_t i = 0; i < t->n_ports; i++)
		for (unsigned int k = 0; k < 2 && is_linked(t, i); k++)
			compare_ends(t, s, i, k);
	look_at_silent_logs(t, s);
	doubt(t, s);
	s->n_doubted = 0;
	for (uint32_t i = 0; i < t->n_ports; i++)
		s->n_doubted += is_doubted(s, i);
}

const char *ibcc_trust_reason(enum ibcc_doubt doubt)
{
	switch (doubt) {
	case IBCC_DOUBT_NONE: return "";
	case IBCC_DOUBT_RATE:
		return "both ends count more data on its link than its reported rate "
		       "allows";
	case IBCC_DOUBT_TIME: return "it sent and was blocked for longer than the time that passed";
	case IBCC_DOUBT_MARKS: return "it counts more marked packets than packets";
	case IBCC_DOUBT_NODE: return "several of its neighbours count other amounts than it does";
	case IBCC_DOUBT_LOG:
		return "its CongestionLog names other senders than the adapters' BECNs and bytes "
		       "do, so the log is not used";
	case IBCC_DOUBT_LINK: return "it sent another amount than the other end received";
	}
	return "";
}

int ibcc_trust_say(const struct ibcc_topo *t, const struct ibcc_snapshot *s, char *buf, size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };
	char name[IBCC_DESC_BYTES + 16];
	uint32_t said = 0;

	if (len)
		buf[0] = '\0';
	if (!s->n_doubted)
		return 0;
	ibcc_text_add(&x, "inconsistent counters: ");
	for (uint32_t i = 0; i < t->n_ports && said < SAID_PORTS; i++) {
		if (!is_doubted(s, i))
			continue;
		ibcc_topo_port_name(t, i, name, sizeof(name));
		ibcc_text_add(&x, "%s%s (%s)", said ? ", " : "", name,
			      ibcc_trust_reason(s->port[i].trust.doubt));
		said++;
	}
	if (said < s->n_doubted)
		ibcc_text_add(&x, ", and %u more port%s", s->n_doubted - said,
			      ibcc_text_plural(s->n_doubted - said, "", "s"));
	return (int)x.n;
}
