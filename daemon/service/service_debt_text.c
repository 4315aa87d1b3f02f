/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the status, the log and the metrics say about a rollback or a disable that is owed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/precheck.h>
#include <ibcc/text.h>

#include "daemon/service/service_impl.h"

#define CAUSES 16u /* more causes than there are; see cause_of() */
#define NAMED  2u  /* nodes named for one cause */

/* Nodes with the same cause. */
struct group {
	const char *cause;
	uint32_t n;
	const struct ibcc_debt *first[NAMED];
};

struct groups {
	uint32_t n, n_debts;
	uint32_t n_others; /* debts at nodes that have nothing of ours */
	const struct ibcc_debt *last;
	struct group group[CAUSES];
};

const char *ibcc_debt_name(const struct ibcc_debt *d)
{
	return d->off ? "disable" : "rollback";
}

/* Names the first of several nodes and says how many more there are. */
void ibcc_debt_name_nodes(const struct ibcc_debt *d, uint32_t n, char *buf, size_t len)
{
	char more[32] = "";

	if (n > 1)
		snprintf(more, sizeof(more), " (and %u more)", n - 1);
	snprintf(buf, len, "\"%s\" 0x%016" PRIx64 "%s", d->node, d->node_guid, more);
}

static bool is_there(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	return s->cycle.topo && ibcc_service_debt_endport(s, d) != IBCC_NONE;
}

static enum ibcc_debt_state state_of(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	if (!is_there(s, d))
		return IBCC_DEBT_AWAY;
	return ibcc_service_debt_is_overwritten(s, d) ? IBCC_DEBT_OVERWRITTEN : IBCC_DEBT_PRESENT;
}

/* Why a debt is not paid, as the end of a sentence about its node. "": the cause is unknown. */
static const char *cause_of(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	const char *cause;

	if (!is_there(s, d))
		return ibcc_walk_is_shared(&s->discovery.shared, d->node_guid)
			       ? "is not the only one with its GUID"
			       : "is not on the fabric";
	if (!ibcc_service_debt_is_payable(s, d) && !ibcc_service_debt_is_overwritten(s, d)) {
		uint32_t e = ibcc_service_debt_endport(s, d);

		return e < s->cycle.actual.n ? ibcc_precheck_reason(&s->cycle.actual.ep[e]) : "";
	}
	cause = ibcc_debt_cause(d);
	return cause ? cause : "";
}

/* Groups the nodes by cause: those that keep what they were to lose, or all. */
static void group(const struct ibcc_service *s, bool all, struct groups *g)
{
	*g = (struct groups){ 0 };
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		const struct ibcc_debt *d = &s->debts.list.debt[i];
		const char *cause;
		uint32_t k;

		if (!all && state_of(s, d) != IBCC_DEBT_PRESENT)
			continue;
		cause = cause_of(s, d);
		for (k = 0; k < g->n && strcmp(g->group[k].cause, cause) != 0; k++)
			;
		if (k == CAUSES)
			k--;
		else if (k == g->n)
			g->group[g->n++].cause = cause;
		if (g->group[k].n < NAMED)
			g->group[k].first[g->group[k].n] = d;
		g->group[k].n++;
		g->n_debts++;
		g->n_others += state_of(s, d) == IBCC_DEBT_OVERWRITTEN;
		g->last = d;
	}
}

/* "transaction 3 (rollback)", or the first and the last of several. */
static void name_transactions(const struct groups *g, char *buf, size_t len)
{
	const struct ibcc_debt *first = g->group[0].first[0], *last = g->last;

	if (first->txn == last->txn)
		snprintf(buf, len, "transaction %" PRId64 " (%s) was", first->txn,
			 ibcc_debt_name(first));
	else
		snprintf(buf, len, "transactions %" PRId64 " (%s) to %" PRId64 " (%s) were",
			 first->txn, ibcc_debt_name(first), last->txn, ibcc_debt_name(last));
}

/* Names the nodes of a cause, and the cause. */
static void describe_group(const struct ibcc_service *s, const struct group *g, char *buf,
			   size_t len)
{
	char node[IBCC_DEBT_NODES_BYTES], names[NAMED * sizeof(node)] = "", more[32] = "";
	const char *cause = g->cause[0] ? g->cause : s->debts.why.text;
	size_t at = 0;

	for (uint32_t i = 0; i < g->n && i < NAMED && at < sizeof(names); i++) {
		ibcc_debt_name_nodes(g->first[i], 1, node, sizeof(node));
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", node);
	}
	if (g->n > NAMED)
		snprintf(more, sizeof(more), " and %u more", g->n - NAMED);
	snprintf(buf, len, "%s%s: %s", names, more,
		 cause[0] ? cause : "the daemon has not tried yet");
}

/* Describes as many causes of several nodes as there is room for, then gives the number of the
 * other nodes.
 */
static void describe(const struct ibcc_service *s, const struct groups *g, struct ibcc_why *why)
{
	char part[2 * IBCC_WHY_BYTES], txns[96], tail[32];
	uint32_t n_left = g->n_debts;
	size_t at;

	name_transactions(g, txns, sizeof(txns));
	if (g->n_others)
		snprintf(why->text, sizeof(why->text), "%s not done in full at %u nodes: ", txns,
			 g->n_debts);
	else
		snprintf(why->text, sizeof(why->text),
			 "%u nodes still have settings that %s to remove: ", g->n_debts, txns);
	at = strlen(why->text);
	for (uint32_t i = 0; i < g->n; i++) {
		const char *sep = i ? "; " : "";

		describe_group(s, &g->group[i], part, sizeof(part));
		if (i && at + strlen(part) + sizeof(tail) >= sizeof(why->text))
			break;
		at += (size_t)snprintf(why->text + at, sizeof(why->text) - at, "%s%s", sep, part);
		if (at >= sizeof(why->text))
			return;
		n_left -= g->group[i].n;
	}
	if (n_left)
		snprintf(why->text + at, sizeof(why->text) - at, "; and %u more", n_left);
}

/* A single node gets its own sentence. */
static void describe_one(const struct ibcc_service *s, const struct groups *g, struct ibcc_why *why)
{
	const struct ibcc_debt *d = g->group[0].first[0];
	const char *cause = g->group[0].cause, *it = "it ";
	char node[IBCC_DEBT_NODES_BYTES], txn[96];

	ibcc_debt_name_nodes(d, 1, node, sizeof(node));
	if (!is_there(s, d)) {
		ibcc_why_set(why, 0,
			     "%s %s: what transaction %" PRId64
			     " (%s) left open there follows when the node is back",
			     node, cause, d->txn, ibcc_debt_name(d));
		return;
	}
	if (state_of(s, d) == IBCC_DEBT_OVERWRITTEN) {
		ibcc_why_set(why, 0, "%s %s (transaction %" PRId64 ", %s)", node, cause, d->txn,
			     ibcc_debt_name(d));
		return;
	}
	if (!cause[0]) {
		cause = s->debts.why.text;
		it = "";
	}
	name_transactions(g, txn, sizeof(txn));
	ibcc_why_set(why, 0,
		     "%s still has settings that %s to remove%s%s%s; the daemon keeps trying", node,
		     txn, cause[0] ? ": " : "", cause[0] ? it : "", cause);
}

/* Returns whether there are any debts. Leaves *why alone if there are none. */
static bool say(const struct ibcc_service *s, bool all, struct ibcc_why *why)
{
	struct groups g;

	group(s, all, &g);
	if (g.n_debts == 1)
		describe_one(s, &g, why);
	else if (g.n_debts)
		describe(s, &g, why);
	return g.n_debts;
}

bool ibcc_service_debt_trouble(const struct ibcc_service *s, struct ibcc_why *why)
{
	return say(s, false, why);
}

uint32_t ibcc_service_count_debts(const struct ibcc_service *s, enum ibcc_debt_state state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->debts.list.n; i++)
		n += state_of(s, &s->debts.list.debt[i]) == state;
	return n;
}

json_t *ibcc_service_owed(const struct ibcc_service *s)
{
	struct ibcc_why why;
	bool any = say(s, true, &why);

	return json_pack("{si so}", "endports", (int)s->debts.list.n, "text",
			 any ? ibcc_json_text(why.text) : json_null());
}

const char *ibcc_service_debt_news(struct ibcc_service *s, struct ibcc_why *news)
{
	*news = s->debts.news;
	s->debts.news.text[0] = '\0';
	return news->text[0] ? news->text : NULL;
}
