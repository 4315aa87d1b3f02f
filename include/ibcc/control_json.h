/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was decided about roots, as JSON: in the file of a plan, and beside the history. */
#ifndef IBCC_CONTROL_JSON_H
#define IBCC_CONTROL_JSON_H

#include <jansson.h>

#include <ibcc/control.h>
#include <ibcc/why.h>

/* {"roots": [...]}, a new reference; NULL without memory. */
json_t *ibcc_control_json(const struct ibcc_control *c);

/* Reads such an object, which is not trusted: numbers are within what a controller could have
 * decided. *c is initialised by the call. Returns 0, -EINVAL with a sentence that names the place,
 * -ENOMEM.
 */
int ibcc_control_read(const json_t *o, struct ibcc_control *c, struct ibcc_why *why);

#endif
