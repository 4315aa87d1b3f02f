/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores loads as a note in the state file and reads them back (baseline.h): one line of text
 * with the hash of the fabric, the time, and a number of Mb/s for each port.
 */
#include "daemon/predict/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/hash.h>
#include <ibcc/state.h>

#define NOTE "baseline"
/* Version in front of the text. */
#define VERSION 1
/* A later time does not fit into nanoseconds since 1970, nor does its age. */
#define YOUNGEST_S (INT64_MAX / 1000000000)
/* No link carries more. */
#define MOST_MBPS 1e8

uint64_t ibcc_baseline_hash(const struct ibcc_topo *t)
{
	uint64_t h = ibcc_hash(IBCC_HASH_START, &t->n_ports, sizeof(t->n_ports));

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];

		h = ibcc_hash(h, &n->guid, sizeof(n->guid));
		if (n->lft)
			h = ibcc_hash(h, n->lft, n->lft_len);
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		h = ibcc_hash(h, &t->port[i].peer, sizeof(t->port[i].peer));
		h = ibcc_hash(h, &t->port[i].lid, sizeof(t->port[i].lid));
		h = ibcc_hash(h, &t->port[i].rate_mbps, sizeof(t->port[i].rate_mbps));
	}
	return h;
}

int ibcc_baseline_store(struct ibcc_state *s, uint64_t hash, const struct ibcc_loads *l,
			int64_t at_s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int rc;

	if (!f)
		return -ENOMEM;
	fprintf(f, "%d %016" PRIx64 " %" PRId64 " %u %u", VERSION, hash, at_s, l->n, l->n_ports);
	for (uint32_t i = 0; i < l->n_ports; i++)
		fprintf(f, " %lld", llround(l->mbps[i]));
	rc = ferror(f) ? -ENOMEM : 0;
	if (fclose(f))
		rc = -ENOMEM;
	if (!rc)
		rc = ibcc_state_note_set(s, NOTE, text);
	free(text);
	return rc;
}

static bool next_load(char **at, double *mbps)
{
	char *end;
	long long v = strtoll(*at, &end, 10);

	if (end == *at || v < 0 || (double)v > MOST_MBPS)
		return false;
	*at = end;
	*mbps = (double)v;
	return true;
}

static void read_loads(char *at, struct ibcc_loads *l, unsigned int n)
{
	for (uint32_t i = 0; i < l->n_ports; i++)
		if (!next_load(&at, &l->mbps[i])) {
			for (uint32_t k = 0; k < l->n_ports; k++)
				l->mbps[k] = 0;
			return;
		}
	l->n = n;
}

int ibcc_baseline_load(struct ibcc_state *s, uint64_t hash, struct ibcc_loads *l, int64_t *at_s)
{
	char *text = ibcc_state_note(s, NOTE);
	unsigned int version, n, n_ports;
	uint64_t h;
	int64_t at;
	int used = 0;

	if (!text)
		return 0;
	if (sscanf(text, "%u %" SCNx64 " %" SCNd64 " %u %u%n", &version, &h, &at, &n, &n_ports,
		   &used) == 5 &&
	    version == VERSION && h == hash && n && n_ports == l->n_ports && at >= 0 &&
	    at <= YOUNGEST_S) {
		read_loads(text + used, l, n);
		*at_s = at;
	}
	free(text);
	return 0;
}
