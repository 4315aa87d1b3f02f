/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files (YAML) and ibsim netfiles. */
#ifndef IBCC_SCENARIO_FILE_H
#define IBCC_SCENARIO_FILE_H

#include <stdio.h>

#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

/* Reads a scenario; its topology gets LIDs and shortest-path routes. All errors in *e. -EINVAL,
 * -ENOENT..., -ENOMEM; *s needs ibcc_scenario_fini() only after 0.
 */
int ibcc_scenario_load(const char *file, struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Reads an ibsim netfile or ibnetdiscover output into a topology. Errors as file:line in *e; NULL
 * on failure. Links without a rate get 4X QDR.
 */
struct ibcc_topo *ibcc_netfile_load(const char *file, struct ibcc_yaml_errors *e);

/* Writes a topology as a netfile that ibsim reads. Node names are the descriptions. -EIO. */
int ibcc_netfile_write(const struct ibcc_topo *t, FILE *out);

#endif
