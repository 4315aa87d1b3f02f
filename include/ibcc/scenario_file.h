/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files (YAML) and ibsim netfiles. */
#ifndef IBCC_SCENARIO_FILE_H
#define IBCC_SCENARIO_FILE_H

#include <stdio.h>

#include <ibcc/link.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#define IBCC_RATE_MAX_MBPS 10000000u

/* Reads a data rate: "4x QDR", "12xSDR", a number of Mb/s, or a number with one of the units Mb/s,
 * Gb/s, MB/s, GB/s. -EINVAL if it is none, -ERANGE below 1 or beyond IBCC_RATE_MAX_MBPS.
 */
int ibcc_rate_parse(const char *s, uint32_t *mbps);

/* Width and speed of a link: "4x QDR", "12xSDR". -EINVAL if there is no such link. */
int ibcc_rate_parse_link(const char *s, unsigned int *lanes, enum ibcc_link_speed *speed);

/* Writes the width and speed of the slowest link that carries a data rate, with `space` between
 * them: "4x QDR". If there are several, it is the one with this many lanes (0: the usual width).
 * Returns 0 if it has exactly that rate, else -ERANGE.
 */
int ibcc_rate_format(uint32_t mbps, unsigned int lanes, char *buf, size_t len, const char *space);

/* Lanes of a link with a rate: those that the rate's text names (NULL: there is none), or else
 * those of the slowest link that carries it.
 */
unsigned int ibcc_rate_lanes(const char *text, uint32_t mbps);

/* Reads a scenario; its topology gets LIDs and shortest-path routes. All errors in *e. -EINVAL,
 * -ENOENT..., -ENOMEM; *s needs ibcc_scenario_fini() only after 0.
 */
int ibcc_scenario_load(const char *file, struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* As ibcc_scenario_load(), after n_set assignments by ibcc_yaml_set() such as
 * "model.buffer_bytes=65536".
 */
int ibcc_scenario_load_set(const char *file, const char *const *set, size_t n_set,
			   struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Reads an ibsim netfile or ibnetdiscover output into a topology. Errors as file:line in *e; NULL
 * on failure. Links without a rate get 4X QDR.
 */
struct ibcc_topo *ibcc_netfile_load(const char *file, struct ibcc_yaml_errors *e);

/* Takes LIDs and forwarding tables from a file, in place of those that the topology has: from the
 * output of dump_fts or ibroute, or from OpenSM's opensm-lfts.dump or opensm.fdbs. Switches are
 * found by GUID, or by description. A switch that the file does not have keeps its table. 0,
 * -EINVAL with errors as "file:line:col: got X, want Y", -ENOMEM with an error.
 */
int ibcc_forwarding_load(const char *file, struct ibcc_topo *t, struct ibcc_yaml_errors *e);

/* Takes the SLs of paths between channel adapters from the output of saquery for path records,
 * into *sls, which is empty. Ports are found by the LIDs of t, which has its tables. 0, -EINVAL
 * with errors as "file:line:col: got X, want Y", -ENOMEM with an error; *sls needs
 * ibcc_route_sls_fini() in each case.
 */
int ibcc_path_records_load(const char *file, const struct ibcc_topo *t, struct ibcc_route_sls *sls,
			   struct ibcc_yaml_errors *e);

/* The fastest speed that stock ibsim 0.10 knows. */
#define IBCC_NETFILE_IBSIM_SPEED IBCC_LINK_SPEED_HDR

/* Copies a netfile, which ibcc_netfile_load() takes, such that stock ibsim reads the same widths
 * and speeds in it: faster links become IBCC_NETFILE_IBSIM_SPEED. -EIO.
 */
int ibcc_netfile_copy_for_ibsim(FILE *in, FILE *out);

/* Writes a topology as a netfile that ibsim reads. Node names are the descriptions, where they can
 * be. -EIO.
 */
int ibcc_netfile_write(const struct ibcc_topo *t, FILE *out);

/* The name that a node has in that file, which is what ibsim's console takes. Returns buf. */
#define IBCC_NETFILE_ID_BYTES (IBCC_DESC_BYTES + 1)
const char *ibcc_netfile_id(const struct ibcc_topo *t, uint32_t node,
			    char buf[IBCC_NETFILE_ID_BYTES]);

#endif
