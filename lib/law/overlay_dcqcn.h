/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The overlay of NVIDIA's congestion control (DCQCN): a root's senders and rate become the marking
 * profiles of its port. Private to lib/law.
 */
#ifndef IBCC_LAW_OVERLAY_DCQCN_H
#define IBCC_LAW_OVERLAY_DCQCN_H

#include <ibcc/advice.h>
#include <ibcc/parameters.h>
#include <ibcc/settings.h>

/* Lays a root's profile over the settings of its switch: min, max and percent of each profile that
 * an SL uses at the root's port; where min and max are percentages of the buffer, percent alone.
 * All other bits stay. The profile is that of ibcc_advice_make(), for the parameters of a member,
 * and its percent is scaled by the root's feedback (table_scale_permille).
 * Returns false and changes nothing if the port or a member's parameters were not read, or if there
 * is no such profile. Otherwise *advice says what it was computed from.
 */
bool ibcc_overlay_dcqcn(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
			const struct ibcc_settings *actual, struct ibcc_endport_cc *sw,
			struct ibcc_advice *advice);

#endif
