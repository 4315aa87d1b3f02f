/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the SLs of paths from the output of saquery (infiniband-diags) for path records:
 *
 *	PathRecord dump:
 *			service_id..............0x0000000000000000
 *			dlid....................4
 *			slid....................1
 *			sl......................0x2
 *
 * and more such lines, of which only these three count. A record begins with the first line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "lines.h"

enum { SLID, DLID, SL, KEYS };

struct reader {
	struct ibcc_lines at;
	const struct ibcc_topo *topo;
	struct ibcc_route_sls *sls;
	bool *led;          /* by LID: a switch has an entry for it */
	unsigned int begun; /* line of the record, or 0 before the first one */
	bool bad;           /* it has a mistake, which has been reported */
	bool has[KEYS];
	unsigned long value[KEYS];
};

/* The record is complete. A path from or to a further LID of a port (LMC) is none that data takes,
 * and paths of switches carry no data.
 */
static int end_record(struct reader *r)
{
	const struct ibcc_topo *t = r->topo;
	char a[IBCC_DESC_BYTES + 32], b[sizeof(a)];
	uint32_t from, to;
	uint8_t sl = (uint8_t)r->value[SL], was;

	if (!r->begun || r->bad)
		return 0;
	if (!r->has[SLID] || !r->has[DLID] || !r->has[SL]) {
		ibcc_yaml_errors_add(r->at.e, r->at.file, r->begun, 1,
				     "got a record without %s, want its slid, dlid and sl",
				     !r->has[SLID]   ? "slid"
				     : !r->has[DLID] ? "dlid"
						     : "sl");
		return -EINVAL;
	}
	from = t->lid_port[r->value[SLID]];
	to = t->lid_port[r->value[DLID]];
	if (from == IBCC_NONE || to == IBCC_NONE || ibcc_topo_is_switch(t, t->port[from].node) ||
	    ibcc_topo_is_switch(t, t->port[to].node))
		return 0;
	was = ibcc_route_sl(t, r->sls, from, to);
	if (was == IBCC_ROUTE_NO_SL)
		return ibcc_route_set_sl(t, r->sls, from, to, sl);
	if (was == sl)
		return 0;
	ibcc_topo_port_name(t, from, a, sizeof(a));
	ibcc_topo_port_name(t, to, b, sizeof(b));
	ibcc_yaml_errors_add(r->at.e, r->at.file, r->begun, 1,
			     "got SL %u from %s to %s, want SL %u as in an earlier record of this "
			     "path",
			     sl, a, b, was);
	return -EINVAL;
}

/* Reads the value of a key that counts. */
static int read_value(struct reader *r, const char *line, const char *at, unsigned int key)
{
	static const char *const want[] = { "a LID from 1 to 49151", "a LID from 1 to 49151",
					    "an SL from 0x0 to 0xf" };
	unsigned long max = key == SL ? 15 : IBCC_LID_MAX;
	char *end = NULL;

	if (r->has[key])
		return ibcc_lines_fail(&r->at, line, at, "each key once in a record");
	r->has[key] = true;
	if (isdigit((unsigned char)*at))
		r->value[key] = strtoul(at, &end, key == SL ? 16 : 10);
	if (!end || *end || r->value[key] > max || (key != SL && !r->value[key]))
		return ibcc_lines_fail(&r->at, line, at, want[key]);
	if (key != SL && !r->led[r->value[key]])
		return ibcc_lines_fail(&r->at, line, at,
				       "a LID that the file of topology.tables has");
	return 0;
}

static int read_key(struct reader *r, const char *line, const char *at)
{
	static const char *const names[] = { "slid", "dlid", "sl" };
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
	const char *value = at + len + strspn(at + len, ".");

	if (!len || value == at + len)
		return ibcc_lines_fail(&r->at, line, at, "a line of saquery's path records");
	if (!r->begun)
		return ibcc_lines_fail(&r->at, line, at, "\"PathRecord dump:\" before it");
	for (unsigned int i = 0; i < KEYS; i++)
		if (len == strlen(names[i]) && !strncmp(at, names[i], len))
			return read_value(r, line, value, i);
	return 0;
}

static int read_line(void *arg, const char *line)
{
	static const char head[] = "PathRecord dump:";
	const char *at = line + strspn(line, " \t");
	struct reader *r = arg;
	int rc;

	if (!*at)
		return 0;
	if (strcmp(at, head)) {
		rc = read_key(r, line, at);
		r->bad = r->bad || rc;
		return rc;
	}
	rc = end_record(r);
	r->begun = r->at.line;
	r->bad = false;
	memset(r->has, 0, sizeof(r->has));
	return rc;
}

int ibcc_path_records_load(const char *file, const struct ibcc_topo *t, struct ibcc_route_sls *sls,
			   struct ibcc_yaml_errors *e)
{
	struct reader r = {
		.at = { .file = file, .e = e },
		.topo = t,
		.sls = sls,
		.led = calloc(IBCC_LID_MAX + 1u, sizeof(*r.led)),
	};
	unsigned int before = e->n;
	int rc = r.led ? 0 : -ENOMEM;

	if (t->n_endports > IBCC_ROUTE_SLS_ENDS) {
		free(r.led);
		ibcc_yaml_errors_add(e, file, 0, 0,
				     "got a fabric whose number of ports with LIDs is %u, want at "
				     "most %u: the SLs take a byte for each pair",
				     t->n_endports, IBCC_ROUTE_SLS_ENDS);
		return -EINVAL;
	}
	for (uint32_t i = 0; !rc && i < t->n_nodes; i++)
		for (uint32_t lid = 0; lid < t->node[i].lft_len && lid <= IBCC_LID_MAX; lid++)
			r.led[lid] = r.led[lid] || t->node[i].lft[lid] != IBCC_LFT_NONE;
	if (!rc)
		rc = ibcc_lines_read(&r.at, read_line, &r);
	if (!rc)
		rc = end_record(&r);
	if (!rc && e->n == before && !r.begun)
		ibcc_yaml_errors_add(e, file, 0, 0, "has no path record");
	if (rc == -ENOMEM)
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
	free(r.led);
	return rc == -ENOMEM || e->n == before ? rc : -EINVAL;
}
