/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What no plan may go beyond, whatever asks for it: the last check before bytes go to a node. */
#ifndef IBCC_BOUNDS_H
#define IBCC_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/why.h>

struct ibcc_bounds {
	uint32_t max_delay;       /* of a table's entry, packet times, up to IBCC_CCT_MAX_MULT */
	uint16_t max_timer;       /* CCTI_Timer, units of 1.024 us */
	uint32_t sets_per_minute; /* to one node, in the mean; 0: as many as there are */
};
/* All that the wire can carry, and one Set a second. */
#define IBCC_BOUNDS_DEFAULT                                                                        \
	{                                                                                          \
		.max_delay = IBCC_CCT_MAX_MULT, .max_timer = UINT16_MAX, .sets_per_minute = 60,    \
	}

/* Checks that management data can be those of a change's attribute: of a block that exists, and
 * with nothing in them that is none of its fields. NULL, or what is wrong.
 */
const char *ibcc_bounds_data(const struct ibcc_change *c, const uint8_t *data);

/* Checks that a node can be given every change of a plan, whatever the order of the plan. It
 * checks:
 * - data as ibcc_bounds_data() wants them, for a node of this kind and its ports (with `t` NULL the
 *   kind and the ports are not checked);
 * - that no two blocks of a table have one place;
 * - that a table has no delay at index 0, and delays up to max_delay that never fall, but entries
 *   without delay may end it;
 * - that timers are at most max_timer;
 * - that PortProfileSettings differ from the old data in min, max and percent of profiles only, so
 *   that bits without a public meaning stay, with a percent up to 100 and no min beyond its max;
 * - that CCTI_Min is within the table, where the plan has a table, and that a table's limit is
 *   within what can be addressed.
 *
 * `has` are the present settings of the nodes of `t` (may be NULL). If it has a node's
 * ControlTableCap, a table has no block and no limit beyond that. Sets bad[i] (`bad` may be NULL)
 * for each change that fails a check, and *why to a sentence about one of them. Returns how many
 * fail: all of them without memory.
 */
uint32_t ibcc_bounds_check(const struct ibcc_bounds *b, const struct ibcc_topo *t,
			   const struct ibcc_settings *has, const struct ibcc_plan *plan, bool *bad,
			   struct ibcc_why *why);

/* Removes from a plan that goes back all nodes with a change that ibcc_bounds_check() does not
 * allow, and sets *why and the result as that does. Of marking profiles each port stands alone.
 */
uint32_t ibcc_bounds_drop(const struct ibcc_bounds *b, const struct ibcc_topo *t,
			  const struct ibcc_settings *has, struct ibcc_plan *plan,
			  struct ibcc_why *why);

/* The highest CCTI_Min that a change brings, 0 if it is not about that. */
uint8_t ibcc_bounds_ccti_min(const struct ibcc_change *c);

/* How many Sets nodes were sent lately. Zero is a beginning. */
struct ibcc_set_budget {
	uint32_t n, cap;
	struct ibcc_set_account {
		uint64_t guid, at_ns;
		double sets; /* left at that time */
	} * account;         /* owned; in order of guid */
};
void ibcc_set_budget_fini(struct ibcc_set_budget *b);

/* Takes n Sets to a node at a time (any clock that does not go back) from what it may have, which
 * is one minute's at once. False if it has less left, unless it has all: then it may have more than
 * a minute's, and waits for it afterwards. True also without memory to count.
 */
bool ibcc_set_budget_take(struct ibcc_set_budget *b, uint64_t guid, uint32_t n,
			  uint32_t sets_per_minute, uint64_t now_ns);

#endif
