/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose counters are believed.
 *
 * Honest counts of the same packets differ by what was on its way at the first and at the last
 * reading, and that does not grow with time. So two ends are not held against each other interval
 * by interval but over a window that is as long as it takes for the difference of honest ends to be
 * small beside what was sent, and must differ in the same direction several windows in a row.
 */
#include <ibcc/trust.h>

#include <math.h>

#include <ibcc/link.h>
#include <ibcc/snapshot.h>

#include "text.h"

#define TOLERANCE 0.25 /* of the larger count */
/* What may be between two ends and counted by one of them only: buffers and a long cable, 256 KiB.
 * Windows in a row add up, and it is there only once.
 */
#define ON_ITS_WAY_BYTES (256u * 1024 / IBCC_TRUST_RUN)
#define LEAST_PACKET     IBCC_LINK_CREDIT_BYTES
/* Sent and waited: rounding, and how exactly the time of a reading is known. */
#define TIME_MOST_PERMILLE  1100u
#define TIME_LEAST_PERMILLE 250u /* a port that is less busy is quiet */
/* Marks of packets that were on their way at the first reading: likewise. */
#define ON_THEIR_WAY  (4096.0 / IBCC_TRUST_RUN)
#define MARKS_PACKETS (4 * ON_THEIR_WAY) /* so many show whether marks are too many */
#define SAID_PORTS    4u

/* Quiet shows nothing wrong, and proves nothing right. */
enum verdict { OPEN, QUIET, RIGHT, LESS, MORE };

/* Which counters of the two ends count the same, and how few bytes may be one more. */
static const struct {
	enum ibcc_ctr sent, received;
	double unit_bytes;
} same[2] = {
	{ IBCC_CTR_XMIT_DATA, IBCC_CTR_RCV_DATA, 4 },
	{ IBCC_CTR_XMIT_PKTS, IBCC_CTR_RCV_PKTS, LEAST_PACKET },
};

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

/* Of a port that was not read, the next difference spans both passes. */
static void count(struct ibcc_port_sample *s)
{
	for (unsigned int c = 0; c < sizeof(s->trust.tally) / sizeof(s->trust.tally[0]); c++) {
		struct ibcc_tally *y = &s->trust.tally[c];

		if (s->state == IBCC_SAMPLE_FRESH && ibcc_delta_exact(&s->delta, (enum ibcc_ctr)c))
			y->sum += s->delta.v[c];
		else if (s->state != IBCC_SAMPLE_STALE)
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

/* Two counts of the same, which may differ by `most` where both are true. */
static enum verdict weigh(double a, double b, double most)
{
	double larger = fmax(a, b);

	if (fabs(a - b) > most + TOLERANCE * larger)
		return a > b ? MORE : LESS;
	return TOLERANCE * larger > most ? RIGHT : OPEN;
}

/* Do both ends tell about the same of this interval? That may be chance, as the window is for. A
 * link over which nothing goes counts: it can do no harm, and nothing may go until its ports are
 * believed again, since the BECNs of a held root can be all that is sent there.
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

/* Has a port whose window is open told nothing wrong for some intervals? Where packets are few one
 * takes dozens of them, and begins with what was wrong.
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

/* What a port has sent against what came to the other end. */
static void compare_ends(const struct ibcc_topo *t, struct ibcc_snapshot *s, uint32_t port,
			 unsigned int k)
{
	struct ibcc_port_sample *a = &s->port[port], *b = &s->port[t->port[port].peer];
	struct ibcc_tally *x = &a->trust.tally[same[k].sent];
	struct ibcc_tally *y = &b->trust.tally[same[k].received];

	if (x->from_ns && y->from_ns) {
		double ns = apart_ns(x->from_ns, y->from_ns) + apart_ns(a->read_ns, b->read_ns);
		double bytes = ns * ibcc_topo_link_mbps(t, port) / 8000 + ON_ITS_WAY_BYTES;
		enum verdict v = weigh((double)x->sum, (double)y->sum, bytes / same[k].unit_bytes);

		if (v == OPEN && !is_quiet(&a->trust.link[k], a, b, k))
			return;
		/* A window in which they agree is no chance: it has four times what honest ends
		 * may differ by, and takes many intervals where little is sent.
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

/* Nothing can be sent, waited for or received for longer than an interval has. */
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
	/* Whichever was wrong, it has to be able to be right again: a port that falls quiet, too,
	 * but its next impossible interval is one more of those before.
	 */
	return busy >= TIME_LEAST_PERMILLE || received >= TIME_LEAST_PERMILLE ? RIGHT : QUIET;
}

static bool is_beyond_rate(const struct ibcc_port_sample *from, const struct ibcc_port_sample *to,
			   uint64_t rate_mbps)
{
	uint64_t most = rate_mbps * TIME_MOST_PERMILLE / 1000;

	return ibcc_delta_exact(&from->delta, IBCC_CTR_XMIT_DATA) &&
	       ibcc_delta_exact(&to->delta, IBCC_CTR_RCV_DATA) &&
	       ibcc_delta_xmit_mbps(&from->delta) > most && ibcc_delta_rcv_mbps(&to->delta) > most;
}

/* Both ends need not lie in the same way: what their link is said to carry is wrong. */
static bool exceeds_rate(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_port_sample *a = &s->port[port], *b = &s->port[t->port[port].peer];
	uint32_t rate = ibcc_topo_link_mbps(t, port);

	return b->state == IBCC_SAMPLE_FRESH &&
	       (is_beyond_rate(a, b, rate) || is_beyond_rate(b, a, rate));
}

/* Of the packets that came, marked ones (FECN) are a part; a packet that was sent brings one BECN
 * at most. Honest marks never exceed the packets since the first reading by more than what was on
 * its way then.
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
		v = QUIET; /* who sends little could not be right again for hours */
	note(&x->finding, v);
	if (v == MORE || v == RIGHT)
		x->marks = x->packets = 0;
}

static bool is_linked(const struct ibcc_topo *t, uint32_t port)
{
	return t->port[port].num && t->port[port].peer != IBCC_NONE;
}

static bool sends_wrong(const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_trust *r = &s->port[port].trust;

	return r->link[0].stands || r->link[1].stands;
}

/* Do the ends of a port's link contradict each other? */
static bool is_contradicted(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	return is_linked(t, port) && (sends_wrong(s, port) || sends_wrong(s, t->port[port].peer));
}

static bool is_doubted(const struct ibcc_snapshot *s, uint32_t port)
{
	return s->port[port].trust.doubt != IBCC_DOUBT_NONE;
}

/* A contradiction that no doubt about the neighbour explains. */
static bool is_accused(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	return is_contradicted(t, s, port) && !is_doubted(s, t->port[port].peer);
}

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

/* On how many links a node is contradicted: 0 unless several neighbours do, on most of its links
 * that could be compared.
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

/* Nodes that are contradicted most come first: doubt about them may explain what their neighbours
 * are accused of. Returns whether there was one.
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

/* What is impossible in itself, then whom several neighbours contradict, then who sends on what is
 * left. Which end is wrong nobody tells, but no decision rests on what was received, and what the
 * other end sends is not in question.
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

/* A doubted log that tells nothing any more can do no harm. */
static void look_at_silent_logs(const struct ibcc_topo *t, struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct ibcc_finding *f = &s->port[t->node[i].first_port].trust.log;
		bool tells = false;

		for (uint32_t k = 0; k < s->n_marks && f->stands; k++)
			tells |= s->mark[k].node == i;
		if (f->stands && !tells)
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
		return "more goes over its link than the rate that is told of it, as both ends "
		       "count";
	case IBCC_DOUBT_TIME: return "sent and waited for longer than there was time";
	case IBCC_DOUBT_MARKS: return "counts more marked packets than packets";
	case IBCC_DOUBT_NODE: return "several neighbours counted otherwise";
	case IBCC_DOUBT_LOG:
		return "its CongestionLog names other senders than the adapters' BECNs and bytes "
		       "do, so the log is not used";
	case IBCC_DOUBT_LINK: return "what it sent is not what the other end received";
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
	ibcc_text_add(&x, "counters that are not believed: ");
	for (uint32_t i = 0; i < t->n_ports && said < SAID_PORTS; i++) {
		if (!is_doubted(s, i))
			continue;
		ibcc_topo_port_name(t, i, name, sizeof(name));
		ibcc_text_add(&x, "%s%s (%s)", said ? ", " : "", name,
			      ibcc_trust_reason(s->port[i].trust.doubt));
		said++;
	}
	if (said < s->n_doubted)
		ibcc_text_add(&x, ", and %u more ports", s->n_doubted - said);
	return (int)x.n;
}
