/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Joins a map of hosts and jobs with a topology: which endports a host has, and which jobs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/whose.h>

bool ibcc_whose_first_word(void *arg, const char *desc, char name[IBCC_DESC_BYTES])
{
	size_t len = 0;

	(void)arg;
	while (*desc == ' ' || *desc == '\t')
		desc++;
	while (desc[len] && desc[len] != ' ' && desc[len] != '\t')
		len++;
	if (!len || len >= IBCC_DESC_BYTES)
		return false;
	memcpy(name, desc, len);
	name[len] = '\0';
	return true;
}

static int by_name(const void *key, const void *element)
{
	return strcmp(key, *(char *const *)element);
}

static uint32_t find_host(const struct ibcc_jobs *jobs, const char *name)
{
	char **found = bsearch(name, jobs->host, jobs->n_hosts, sizeof(*jobs->host), by_name);

	return found ? (uint32_t)(found - jobs->host) : IBCC_NONE;
}

/* Lists the jobs of each host. first[h] counts at first, then is the place behind the jobs of h,
 * and at last the place of its first job.
 */
static void list_jobs(const struct ibcc_jobs *jobs, struct ibcc_whose_hosts *h)
{
	for (uint32_t i = 0; i < jobs->n_on; i++)
		h->first[jobs->on[i]]++;
	for (uint32_t i = 0, sum = 0; i <= h->n_hosts; i++)
		h->first[i] = sum += h->first[i];
	for (uint32_t j = jobs->n; j-- > 0;)
		for (uint32_t i = 0; i < jobs->job[j].n_hosts; i++)
			h->job[--h->first[jobs->on[jobs->job[j].first + i]]] = j;
}

int ibcc_whose_hosts_find(const struct ibcc_jobs *jobs, const struct ibcc_topo *t,
			  ibcc_whose_name_fn *name_of, void *arg, struct ibcc_whose_hosts *out)
{
	size_t endports = t->n_endports ? t->n_endports : 1, on = jobs->n_on ? jobs->n_on : 1;
	bool *found = calloc(jobs->n_hosts ? jobs->n_hosts : 1, sizeof(*found));
	int rc = -ENOMEM;

	*out = (struct ibcc_whose_hosts){
		.n_endports = t->n_endports,
		.n_hosts = jobs->n_hosts,
		.host = calloc(endports, sizeof(*out->host)),
		.first = calloc((size_t)jobs->n_hosts + 1, sizeof(*out->first)),
		.job = calloc(on, sizeof(*out->job)),
	};
	if (!found || !out->host || !out->first || !out->job)
		goto out;
	for (uint32_t i = 0; i < t->n_endports; i++) {
		uint32_t node = t->port[t->endport[i]].node;
		char name[IBCC_DESC_BYTES];

		out->host[i] = IBCC_NONE;
		if (ibcc_topo_is_switch(t, node) || !name_of(arg, t->node[node].desc, name))
			continue;
		out->host[i] = find_host(jobs, name);
		if (out->host[i] == IBCC_NONE)
			continue;
		found[out->host[i]] = true;
		out->n_adapters++;
	}
	for (uint32_t i = 0; i < jobs->n_hosts; i++)
		if (!found[i] && out->n_unmatched++ < IBCC_WHOSE_NAMED)
			out->unmatched[out->n_unmatched - 1] = i;
	list_jobs(jobs, out);
	rc = 0;
out:
	free(found);
	if (rc)
		ibcc_whose_hosts_fini(out);
	return rc;
}

void ibcc_whose_hosts_fini(struct ibcc_whose_hosts *h)
{
	free(h->host);
	free(h->first);
	free(h->job);
	*h = (struct ibcc_whose_hosts){ 0 };
}

bool ibcc_whose_is_old(const struct ibcc_jobs *jobs, int64_t now_s)
{
	int64_t most_s = 2 * jobs->period_s;

	return now_s - jobs->made_s > most_s || jobs->made_s - now_s > most_s;
}
