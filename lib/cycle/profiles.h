/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles of NVIDIA's switches, where they may be settings of ours. */
#ifndef IBCC_PROFILES_H
#define IBCC_PROFILES_H

#include <ibcc/cycle.h>

/* Are marking profiles the settings of this fabric? NVIDIA's control is at work, and the options
 * allow writing them.
 */
bool ibcc_profiles_are_settings(const struct ibcc_cycle *c);

/* Are an endport's profiles, or the parameters of its reaction, still to be read? */
bool ibcc_profiles_are_unread(const struct ibcc_cycle *c, uint32_t endport);

/* Says by which congestion control an endport is given settings, from what is known of it. */
enum ibcc_mechanism ibcc_profiles_mechanism(const struct ibcc_cycle *c, uint32_t endport);

/* A sentence if another program has changed profiles that we wrote, or a switch lost them; false:
 * there are none. Then nothing is written any more, until our settings are rolled back.
 */
bool ibcc_profiles_changed(const struct ibcc_cycle *c, struct ibcc_why *text);

#endif
