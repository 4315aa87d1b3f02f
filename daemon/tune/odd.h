/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes whose settings differ from those of most nodes of their device type. */
#ifndef IBCC_TUNE_ODD_H
#define IBCC_TUNE_ODD_H

#include <jansson.h>

/* Switches and adapter ports of an answer of "show" that have NVIDIA's control and do not answer
 * about it: {"ports","first"}, their number and the name of the first one, or null.
 */
json_t *tune_silent(const json_t *show);

/* The odd fields of an answer of "show" (ibcc_report_settings(), unfolded): {"schema","nodes",
 * "types","alone","odd","more","undecided","nvidia_unread","nvidia_silent"}. `alone` counts types
 * with one node, which has nothing to be compared with. At most 100 odd fields are listed; `more`
 * counts the others. `undecided` has fields of which no value is that of more than half of the
 * nodes of a type, 20 at most. ibcc-tune-json(7) has the keys of the elements. NULL without memory.
 */
json_t *tune_odd(const json_t *show);

#endif
