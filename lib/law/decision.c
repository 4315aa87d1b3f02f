/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decisions as data: their array, and the names that programs know them by. */
#include <ibcc/decision.h>

#include <stdlib.h>

#include <ibcc/grow.h>
#include <ibcc/hash.h>

struct ibcc_decision *ibcc_decisions_add(struct ibcc_decisions *d, enum ibcc_decision_code code,
					 const struct ibcc_root_parameters *root)
{
	struct ibcc_decision *one = ibcc_grow(d->decision, d->n, &d->cap, sizeof(*one));

	if (!one)
		return NULL;
	d->decision = one;
	one = &d->decision[d->n++];
	*one = (struct ibcc_decision){ .code = code, .root = *root };
	one->root.member = one->root.lacking = NULL;
	return one;
}

void ibcc_decisions_fini(struct ibcc_decisions *d)
{
	if (!d)
		return;
	free(d->decision);
	*d = (struct ibcc_decisions){ 0 };
}

uint64_t ibcc_decisions_key(const struct ibcc_decisions *d)
{
	uint64_t rest[] = {
		d->n,   d->n ? 0 : d->situation.code, d->situation.lacking, d->n_left, d->left_goes,
		d->step
	};
	uint64_t key = ibcc_hash(IBCC_HASH_START, rest, sizeof(rest));

	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t part[] = { d->decision[i].code, d->decision[i].root.port };

		key = ibcc_hash(key, part, sizeof(part));
	}
	return key;
}

const char *ibcc_decision_name(enum ibcc_decision_code code)
{
	switch (code) {
	case IBCC_DECISION_ADMIT: return "admit";
	case IBCC_DECISION_LEARN: return "learn";
	case IBCC_DECISION_NO_SUPPORT: return "no_support";
	case IBCC_DECISION_LEARNT: return "learnt";
	case IBCC_DECISION_MORE: return "more";
	case IBCC_DECISION_DRAINED: return "drained";
	case IBCC_DECISION_DRAIN_AGAIN: return "drain_again";
	case IBCC_DECISION_TREE_GONE: return "tree_gone";
	case IBCC_DECISION_TREE_BACK: return "tree_back";
	case IBCC_DECISION_TURNED: return "turned";
	case IBCC_DECISION_NUMBERS: return "numbers";
	case IBCC_DECISION_PAIRS: return "pairs";
	case IBCC_DECISION_LOOSEN: return "loosen";
	case IBCC_DECISION_TIGHTEN: return "tighten";
	case IBCC_DECISION_STEP_BACK: return "step_back";
	case IBCC_DECISION_ENLIST: return "enlist";
	case IBCC_DECISION_HARM: return "harm";
	case IBCC_DECISION_IN_VAIN: return "in_vain";
	case IBCC_DECISION_DOUBTED: return "doubted";
	}
	return "";
}

const char *ibcc_situation_name(enum ibcc_situation_code code)
{
	switch (code) {
	case IBCC_SITUATION_NOTHING_YET: return "nothing_yet";
	case IBCC_SITUATION_NO_COUNTERS: return "no_counters";
	case IBCC_SITUATION_BLIND: return "blind";
	case IBCC_SITUATION_NOT_SET: return "not_set";
	case IBCC_SITUATION_PARTLY_SET: return "partly_set";
	case IBCC_SITUATION_CONTROLLED: return "controlled";
	case IBCC_SITUATION_UNCONFIRMED: return "unconfirmed";
	case IBCC_SITUATION_OVER: return "over";
	case IBCC_SITUATION_UNKNOWN_NODES: return "unknown_nodes";
	case IBCC_SITUATION_HARMLESS: return "harmless";
	case IBCC_SITUATION_NO_CONGESTION: return "no_congestion";
	}
	return "";
}

const char *ibcc_rollout_step_name(enum ibcc_rollout_step step)
{
	switch (step) {
	case IBCC_STEP_ALL: return "all";
	case IBCC_STEP_FIRST: return "first";
	case IBCC_STEP_WAIT: return "wait";
	case IBCC_STEP_THE_REST: return "the_rest";
	}
	return "";
}

const char *ibcc_phase_name(enum ibcc_phase phase)
{
	switch (phase) {
	case IBCC_PHASE_WATCH: return "watch";
	case IBCC_PHASE_LEARN: return "learn";
	case IBCC_PHASE_DRAIN: return "drain";
	case IBCC_PHASE_HOLD: return "hold";
	case IBCC_PHASE_BARRED: return "barred";
	}
	return "";
}

const char *ibcc_basis_name(enum ibcc_basis basis)
{
	switch (basis) {
	case IBCC_BASIS_WAITING: return "waiting";
	case IBCC_BASIS_MARKED: return "marked";
	case IBCC_BASIS_LOGGED: return "logged";
	}
	return "";
}

const char *ibcc_root_status_name(enum ibcc_root_status status)
{
	switch (status) {
	case IBCC_STATUS_NO_ROOT: return "no_root";
	case IBCC_STATUS_UNREADABLE: return "unreadable";
	case IBCC_STATUS_NOT_READ: return "not_read";
	case IBCC_STATUS_NO_ROOM: return "no_room";
	case IBCC_STATUS_HELPS_NOBODY: return "helps_nobody";
	case IBCC_STATUS_BACKLOG: return "backlog";
	case IBCC_STATUS_FEEDERS_FREE: return "feeders_free";
	case IBCC_STATUS_NOT_CONFIRMED: return "not_confirmed";
	case IBCC_STATUS_WAITS: return "waits";
	case IBCC_STATUS_WAITS_TO_LEARN: return "waits_to_learn";
	case IBCC_STATUS_NO_SUPPORT: return "no_support";
	case IBCC_STATUS_OUTSIDE: return "outside";
	case IBCC_STATUS_BARRED_HARM: return "barred_harm";
	case IBCC_STATUS_BARRED_IN_VAIN: return "barred_in_vain";
	case IBCC_STATUS_RECOMMENDED: return "recommended";
	case IBCC_STATUS_NOT_IN_FORCE: return "not_in_force";
	case IBCC_STATUS_CHANGED: return "changed";
	case IBCC_STATUS_LEARNING: return "learning";
	case IBCC_STATUS_DRAINING: return "draining";
	case IBCC_STATUS_SETTLING: return "settling";
	case IBCC_STATUS_HOLDING: return "holding";
	case IBCC_STATUS_ADJUSTED: return "adjusted";
	case IBCC_STATUS_OUTLIER: return "outlier";
	case IBCC_STATUS_ABSENT: return "absent";
	case IBCC_STATUS_DOUBTED: return "doubted";
	case IBCC_STATUS_GONE: return "gone";
	}
	return "";
}

const char *ibcc_decision_figure(enum ibcc_decision_code code, unsigned int k)
{
	static const char *const of[IBCC_DECISION_CODES][IBCC_DECISION_FIGURES] = {
		[IBCC_DECISION_DRAIN_AGAIN] = { "sources_wait_permille" },
		[IBCC_DECISION_NUMBERS] = { "contributors", "equal_contributors", "rate_mbps" },
		[IBCC_DECISION_PAIRS] = { "pairs", "rate_mbps" },
		[IBCC_DECISION_LOOSEN] = { "busy_permille" },
		[IBCC_DECISION_TIGHTEN] = { "busy_permille" },
		[IBCC_DECISION_STEP_BACK] = { "before_mbps", "sent_mbps" },
		[IBCC_DECISION_ENLIST] = { "adapters" },
	};

	return k < IBCC_DECISION_FIGURES ? of[code][k] : NULL;
}
