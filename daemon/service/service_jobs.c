/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose job it is: reads the map of hosts and jobs, and says for each root of the last polling
 * cycle which jobs take part. Begin with ibcc_service_look_at_jobs().
 *
 * The map comes from a file that another program replaces, and that a thread reads (map_reader.h).
 * So neither a batch system nor a file system that hangs delays a polling cycle. Without the file,
 * no answer has anything of jobs.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/hash.h>
#include <ibcc/json.h>
#include <ibcc/text.h>
#include <ibcc/whose_account.h>

#include "daemon/report/report.h"
#include "daemon/service/map_reader.h"
#include "daemon/service/service_impl.h"

#define ROOTS_MAX    32u /* roots whose jobs are named */
#define PARTS_TOLD   32u /* jobs of a root */
#define JOBS_OF_HOST 8u  /* jobs at a sender */
#define SENTENCE     2048u
/* Rows that are stored at a time, between polling cycles. A request can wait for as long: a row
 * takes 15 to 100 us of CPU time.
 */
#define ROWS_STORED 128u
/* A simulated fabric's clock is slower or faster than the host's by at most this factor. */
#define PACE_MAX 1e4

struct ibcc_service_jobs {
	bool has_pattern;
	regex_t pattern;
	struct ibcc_map_reader *reader; /* NULL: there is no file */
	struct ibcc_why late;           /* the file does not answer; empty: it does */
	struct ibcc_why trouble;        /* why the file was not read; empty: it was */
	bool has_map;
	struct ibcc_jobs map;
	bool matched;
	bool is_stale; /* the hosts were matched with an earlier topology */
	struct ibcc_whose_hosts hosts;
	struct ibcc_whose_account *account;
	bool unstored; /* the rows cannot be stored now */
	/* The last polling cycle: its interval, and the jobs of its roots. */
	int64_t begin_ms, end_ms;
	uint32_t n_shares;
	struct ibcc_whose_evidence evidence[ROOTS_MAX];
	struct ibcc_whose_share share[ROOTS_MAX];
};
_Static_assert(IBCC_METRICS_JOBS == IBCC_WHOSE_WORST, "a time series for each of the worst jobs");

static int64_t realtime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

static void forget_shares(struct ibcc_service_jobs *j)
{
	for (uint32_t i = 0; i < j->n_shares; i++) {
		ibcc_whose_share_fini(&j->share[i]);
		ibcc_whose_evidence_fini(&j->evidence[i]);
	}
	j->n_shares = 0;
}

static void forget_map(struct ibcc_service_jobs *j)
{
	forget_shares(j);
	if (j->matched)
		ibcc_whose_hosts_fini(&j->hosts);
	if (j->has_map)
		ibcc_jobs_fini(&j->map);
	j->matched = j->has_map = false;
}

static void free_jobs(struct ibcc_service_jobs *j)
{
	if (!j)
		return;
	forget_map(j);
	ibcc_map_reader_free(j->reader);
	ibcc_whose_account_free(j->account);
	if (j->has_pattern)
		regfree(&j->pattern);
	free(j);
}

struct ibcc_service_jobs *ibcc_service_jobs_new(const struct ibcc_config *config)
{
	struct ibcc_service_jobs *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->account = ibcc_whose_account_new();
	/* The configuration was refused if this is no expression. */
	j->has_pattern = config->jobs_host_pattern[0] &&
			 !regcomp(&j->pattern, config->jobs_host_pattern, REG_EXTENDED);
	if (config->jobs_file[0])
		j->reader = ibcc_map_reader_new(config->jobs_file);
	if (j->account && !j->reader == !config->jobs_file[0] &&
	    (j->has_pattern || !config->jobs_host_pattern[0]))
		return j;
	free_jobs(j);
	return NULL;
}

static bool name_by_pattern(void *arg, const char *desc, char name[IBCC_DESC_BYTES])
{
	regmatch_t m[2];
	size_t len;

	if (regexec(arg, desc, 2, m, 0) || m[1].rm_so < 0)
		return false;
	len = (size_t)(m[1].rm_eo - m[1].rm_so);
	if (!len || len >= IBCC_DESC_BYTES)
		return false;
	memcpy(name, desc + m[1].rm_so, len);
	name[len] = '\0';
	return true;
}

/* Takes away what the site wants to keep to itself, before anything else sees it. */
static void keep_back(struct ibcc_jobs *map, int names)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (names == IBCC_JOBS_NAMES_JOBS || names == IBCC_JOBS_NAMES_NONE)
			map->job[i].user[0] = '\0';
		if (names == IBCC_JOBS_NAMES_USERS || names == IBCC_JOBS_NAMES_NONE)
			map->job[i].name[0] = '\0';
	}
}

/* Takes what was read since the last polling cycle. After an error the old map stays until it is
 * too old.
 */
static void take_map(struct ibcc_service_jobs *j, const struct ibcc_config *config)
{
	struct ibcc_why why = { "" };
	struct ibcc_jobs map = { 0 };
	uint64_t waited_s = 0;
	enum ibcc_map_news news =
		j->reader ? ibcc_map_reader_take(j->reader, &map, &why, &waited_s) : IBCC_MAP_GONE;

	j->late.text[0] = '\0';
	if (news != IBCC_MAP_NO_NEWS && news != IBCC_MAP_LATE)
		j->trouble.text[0] = '\0';
	switch (news) {
	case IBCC_MAP_NO_NEWS: return;
	case IBCC_MAP_READ: break;
	case IBCC_MAP_GONE:
		if (j->has_map)
			ibcc_why_set(&j->trouble, 0, "%s is gone", config->jobs_file);
		return;
	case IBCC_MAP_UNREAD:
		ibcc_why_set(&j->trouble, 0, "%s cannot be read: %s", config->jobs_file, why.text);
		return;
	case IBCC_MAP_LATE:
		ibcc_why_set(&j->late, 0,
			     "reading %s has taken %llu s so far: see whether its file system "
			     "answers",
			     config->jobs_file, (unsigned long long)waited_s);
		return;
	}
	keep_back(&map, config->jobs_names);
	forget_map(j);
	j->map = map;
	j->has_map = true;
}

/* Matches the hosts of the map with the topology, unless they are. */
static int match(struct ibcc_service_jobs *j, const struct ibcc_topo *t)
{
	int rc;

	if (j->matched && !j->is_stale)
		return 0;
	if (j->matched)
		ibcc_whose_hosts_fini(&j->hosts);
	j->is_stale = false;
	rc = ibcc_whose_hosts_find(&j->map, t,
				   j->has_pattern ? name_by_pattern : ibcc_whose_first_word,
				   &j->pattern, &j->hosts);
	j->matched = !rc;
	return rc;
}

/* The jobs of the worst roots of the last polling cycle, by the map that is there. */
static int share_roots(struct ibcc_service_jobs *j, const struct ibcc_cycle *c, double pace)
{
	const struct ibcc_estimate *e = &c->estimate;
	int rc = 0;

	for (uint32_t i = 0; i < e->n_roots && i < ROOTS_MAX && !rc; i++) {
		struct ibcc_whose_evidence *v = &j->evidence[i];
		double ms = (double)e->root[i].interval_ns / 1e6 * pace;

		rc = ibcc_whose_evidence_take(c->topo, &e->root[i], j->end_ms - (int64_t)ms,
					      j->end_ms, v);
		if (rc)
			break;
		rc = ibcc_whose_share_out(&j->map, &j->hosts, c->topo, v, &j->share[i]);
		if (rc)
			ibcc_whose_evidence_fini(v);
		else
			j->n_shares++;
	}
	return rc;
}

/* How many milliseconds of the host's clock one of the counters' clock takes. */
static double pace_of(const struct ibcc_service_jobs *j, const struct ibcc_cycle *c, int64_t now_ms)
{
	double fabric_ms = (double)c->estimate.interval_ns / 1e6, pace;

	if (!ibcc_collector_uses_fabric_clock(c->collector) || !j->end_ms || fabric_ms <= 0)
		return 1;
	pace = (double)(now_ms - j->end_ms) / fabric_ms;
	return pace < 1 / PACE_MAX ? 1 / PACE_MAX : pace > PACE_MAX ? PACE_MAX : pace;
}

/* Stores `most` rows, or those that there are. Returns whether some are left that can be stored. */
static bool store(struct ibcc_service *s, uint32_t most)
{
	struct ibcc_service_jobs *j = s->jobs;
	uint32_t n;
	const struct ibcc_whose_row *row = ibcc_whose_account_rows(j->account, &n);

	most = n < most ? n : most;
	if (!most || !s->state)
		return false;
	j->unstored = ibcc_state_add_jobs(s->state, row, most, (int64_t)time(NULL)) != 0;
	if (!j->unstored)
		ibcc_whose_account_clear(j->account, most);
	return !j->unstored && n > most;
}

/* Charges the jobs with polling cycles that waited for the map. Returns whether there were any. */
static bool settle(struct ibcc_service *s)
{
	struct ibcc_service_jobs *j = s->jobs;
	const struct ibcc_topo *t = s->cycle.topo;

	return j->has_map && t && ibcc_whose_account_due(j->account, &j->map) && !match(j, t) &&
	       !ibcc_whose_account_settle(j->account, &j->map, &j->hosts, t);
}

/* Rows are stored after all is charged: most jobs have a part in several polling cycles of a map.
 */
bool ibcc_service_account_jobs(struct ibcc_service *s)
{
	return settle(s) || (!s->jobs->unstored && store(s, ROWS_STORED));
}

void ibcc_service_rematch_jobs(struct ibcc_service *s)
{
	s->jobs->is_stale = true;
}

void ibcc_service_end_jobs(struct ibcc_service *s)
{
	if (s->jobs) {
		while (settle(s))
			;
		(void)store(s, IBCC_WHOSE_ROWS_MAX);
	}
	free_jobs(s->jobs);
	s->jobs = NULL;
}

/* Without a thread, there is no map. */
void ibcc_service_begin_jobs(struct ibcc_service *s)
{
	if (s->jobs->reader)
		(void)ibcc_map_reader_begin(s->jobs->reader);
}

/* Without memory, this polling cycle has no jobs. */
static void look(struct ibcc_service *s)
{
	struct ibcc_service_jobs *j = s->jobs;
	const struct ibcc_cycle *c = &s->cycle;
	int64_t now_ms = realtime_ms();
	double pace = pace_of(j, c, now_ms);

	take_map(j, &s->config);
	forget_shares(j);
	j->begin_ms = now_ms - (int64_t)((double)c->estimate.interval_ns / 1e6 * pace);
	j->end_ms = now_ms;
	if (!j->has_map || match(j, c->topo))
		return;
	if (!ibcc_whose_is_old(&j->map, now_ms / 1000))
		(void)share_roots(j, c, pace);
	if (!s->listens)
		return;
	(void)ibcc_whose_account_note(j->account, c->topo, &c->estimate, now_ms, pace);
}

void ibcc_service_look_at_jobs(struct ibcc_service *s)
{
	/* There was no time for these since the last polling cycle, or they could not be stored. */
	(void)settle(s);
	(void)store(s, ROWS_STORED);
	look(s);
}

/* Why the map is not used, or why a part of it may be missing; empty: it is as it should be. */
static void judge(const struct ibcc_service_jobs *j, int64_t now_s, struct ibcc_why *why)
{
	struct ibcc_text x = { .buf = why->text, .len = sizeof(why->text) };
	long long age_s = (long long)(now_s - j->map.made_s);

	why->text[0] = '\0';
	if (j->late.text[0])
		ibcc_text_say(&x, "%s", j->late.text);
	if (j->trouble.text[0])
		ibcc_text_say(&x, "%s", j->trouble.text);
	if (j->has_map && j->map.trouble[0])
		ibcc_text_say(&x, "%s", j->map.trouble);
	if (j->has_map && !j->map.made_s)
		ibcc_text_say(&x, "the batch system has not answered yet, so congestion is "
				  "assigned to no job: check the service ibcc-jobs");
	else if (j->has_map && age_s >= 0 && ibcc_whose_is_old(&j->map, now_s))
		ibcc_text_say(&x,
			      "the map of jobs is %lld s old, more than twice its period of %lld "
			      "s, so congestion is assigned to no job: check the service ibcc-jobs",
			      age_s, (long long)j->map.period_s);
	else if (j->has_map && ibcc_whose_is_old(&j->map, now_s))
		ibcc_text_say(&x,
			      "the map of jobs was made %lld s from now, so congestion is "
			      "assigned to no job: check the clocks of the hosts",
			      -age_s);
	else if (x.n)
		ibcc_text_say(&x, j->has_map ? "the daemon uses the map from before until that is "
					       "too old"
					     : "congestion is assigned to no job until it can be "
					       "read");
}

static json_t *text_or_null(const char *text)
{
	return text[0] ? ibcc_json_text(text) : json_null();
}

static uint32_t count_running(const struct ibcc_jobs *map, int64_t now_s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < map->n; i++)
		n += map->job[i].start_s <= now_s &&
		     (!map->job[i].end_s || map->job[i].end_s > now_s);
	return n;
}

json_t *ibcc_service_jobs_status(const struct ibcc_service *s)
{
	const struct ibcc_service_jobs *j = s->jobs;
	int64_t now_s = (int64_t)time(NULL);
	struct ibcc_why why = { "" };
	json_t *o, *names;

	if (!j->has_map && !j->trouble.text[0] && !j->late.text[0])
		return json_null();
	judge(j, now_s, &why);
	if (!j->has_map)
		return json_pack("{sb so}", "used", 0, "text", text_or_null(why.text));
	names = json_array();
	for (uint32_t i = 0; j->matched && i < j->hosts.n_unmatched && i < IBCC_WHOSE_NAMED; i++)
		json_array_append_new(names, ibcc_json_text(j->map.host[j->hosts.unmatched[i]]));
	o = json_pack("{sb so so sI sI sI si si si si so}", "used",
		      j->matched && !ibcc_whose_is_old(&j->map, now_s), "text",
		      text_or_null(why.text), "source", ibcc_json_text(j->map.source), "made",
		      (json_int_t)j->map.made_s, "age_s", (json_int_t)(now_s - j->map.made_s),
		      "period_s", (json_int_t)j->map.period_s, "running",
		      (int)count_running(&j->map, now_s), "hosts", (int)j->map.n_hosts, "adapters",
		      j->matched ? (int)j->hosts.n_adapters : 0, "unmatched",
		      j->matched ? (int)j->hosts.n_unmatched : 0, "unmatched_names", names);
	return o;
}

static const char *role_of(const struct ibcc_whose_share *s, const struct ibcc_whose_part *p)
{
	if (!p->own_permille && !p->shared_permille)
		return "victim";
	return s->basis == IBCC_WHOSE_BY_WAITING ? "suspect" : "contributor";
}

static json_t *part_json(const struct ibcc_jobs *map, const struct ibcc_whose_share *s,
			 const struct ibcc_whose_part *p)
{
	const struct ibcc_job *job = &map->job[p->job];

	return json_pack("{so so so ss si si si si si}", "id", ibcc_json_text(job->id), "user",
			 text_or_null(job->user), "name", text_or_null(job->name), "role",
			 role_of(s, p), "share_permille", p->own_permille, "shared_permille",
			 p->shared_permille, "contributors", (int)p->n_contributors, "victims",
			 (int)p->n_victims, "wait_permille", p->victim_permille);
}

static json_t *share_json(const struct ibcc_service_jobs *j, uint32_t k)
{
	const struct ibcc_whose_share *s = &j->share[k];
	json_t *list = json_array();
	char words[SENTENCE];

	for (uint32_t i = 0; list && i < s->n && i < PARTS_TOLD; i++)
		json_array_append_new(list, part_json(&j->map, s, &s->part[i]));
	ibcc_whose_words(&j->map, s, j->evidence[k].root, true, words, sizeof(words));
	return json_pack("{ss si so so si}", "basis", ibcc_whose_basis_name(s->basis),
			 "nobody_permille", s->nobody_permille, "text", text_or_null(words), "list",
			 list, "left_out", s->n > PARTS_TOLD ? (int)(s->n - PARTS_TOLD) : 0);
}

/* A job may have two runs in an interval. */
static bool is_listed(const json_t *list, const char *id)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (!strcmp(json_string_value(o), id))
			return true;
	return false;
}

/* The numbers of the jobs that ran on the host of an adapter in the last interval. */
static json_t *jobs_at(const struct ibcc_service *s, const json_t *adapter)
{
	const struct ibcc_service_jobs *j = s->jobs;
	json_t *list = json_array();
	uint64_t guid;
	uint32_t ep, host = IBCC_NONE;

	if (!ibcc_json_read_guid(json_object_get(adapter, "node_guid"), &guid))
		return list;
	ep = ibcc_topo_find_endport(
		s->cycle.topo, guid,
		(unsigned int)json_integer_value(json_object_get(adapter, "port")));
	if (ep < j->hosts.n_endports)
		host = j->hosts.host[ep];
	if (host == IBCC_NONE)
		return list;
	for (uint32_t k = j->hosts.first[host];
	     k < j->hosts.first[host + 1] && json_array_size(list) < JOBS_OF_HOST; k++) {
		const struct ibcc_job *job = &j->map.job[j->hosts.job[k]];

		if (job->start_s * 1000 < j->end_ms &&
		    (!job->end_s || job->end_s * 1000 > j->begin_ms) && !is_listed(list, job->id))
			json_array_append_new(list, ibcc_json_text(job->id));
	}
	return list;
}

static bool is_used(const struct ibcc_service_jobs *j)
{
	return j->has_map && j->matched && !ibcc_whose_is_old(&j->map, j->end_ms / 1000);
}

bool ibcc_service_has_jobs(const struct ibcc_service *s)
{
	return is_used(s->jobs);
}

void ibcc_service_add_jobs_at(const struct ibcc_service *s, json_t *adapters)
{
	json_t *o;
	size_t i;

	if (!is_used(s->jobs))
		return;
	json_array_foreach (adapters, i, o)
		json_object_set_new(o, "jobs", jobs_at(s, o));
}

void ibcc_service_add_jobs(const struct ibcc_service *s, json_t *roots)
{
	static const char *const lists[] = { "contributors", "candidates", "victims" };
	json_t *o;
	size_t i;

	json_array_foreach (roots, i, o) {
		if (i < s->jobs->n_shares)
			json_object_set_new(o, "jobs", share_json(s->jobs, (uint32_t)i));
		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			ibcc_service_add_jobs_at(s, json_object_get(o, lists[k]));
	}
}

/* Jobs with less than this share of a root's congestion come and go. */
#define TELLING_PERMILLE 100u

static uint64_t key_of(const struct ibcc_jobs *map, const struct ibcc_whose_share *s)
{
	uint64_t key = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct ibcc_whose_part *p = &s->part[i];
		const char *role = role_of(s, p), *id = map->job[p->job].id;

		if (p->n_victims || p->own_permille + p->shared_permille >= TELLING_PERMILLE)
			key += ibcc_hash(ibcc_hash(IBCC_HASH_START, role, strlen(role)), id,
					 strlen(id));
	}
	return key;
}

uint64_t ibcc_service_whose(const struct ibcc_service *s, uint32_t port, char *buf, size_t len)
{
	const struct ibcc_service_jobs *j = s->jobs;
	const struct ibcc_estimate *e = &s->cycle.estimate;

	buf[0] = '\0';
	for (uint32_t i = 0; i < j->n_shares && i < e->n_roots; i++) {
		if (e->root[i].port != port)
			continue;
		ibcc_whose_words(&j->map, &j->share[i], j->evidence[i].root, false, buf, len);
		return key_of(&j->map, &j->share[i]);
	}
	return 0;
}

json_t *ibcc_service_whose_text(const struct ibcc_service *s)
{
	char words[SENTENCE], all[2 * SENTENCE] = "";
	struct ibcc_text x = { .buf = all, .len = sizeof(all) };

	for (uint32_t i = 0; i < s->jobs->n_shares && i < 2; i++) {
		ibcc_whose_words(&s->jobs->map, &s->jobs->share[i], s->jobs->evidence[i].root, true,
				 words, sizeof(words));
		if (words[0])
			ibcc_text_add(&x, "%s%s", x.n ? ". Then " : "", words);
	}
	return text_or_null(all);
}

/* Names that were kept before the site wanted them kept back. */
static void keep_back_json(json_t *list, int names)
{
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		if (names == IBCC_JOBS_NAMES_JOBS || names == IBCC_JOBS_NAMES_NONE)
			json_object_set_new(o, "user", json_null());
		if (names == IBCC_JOBS_NAMES_USERS || names == IBCC_JOBS_NAMES_NONE)
			json_object_set_new(o, "name", json_null());
	}
}

int ibcc_service_jobs(struct ibcc_service *s, uint32_t since_s, const char *user, const char *id,
		      json_t **out, struct ibcc_why *why)
{
	int64_t now_s = (int64_t)time(NULL);
	bool users = s->config.jobs_names == IBCC_JOBS_NAMES_ALL ||
		     s->config.jobs_names == IBCC_JOBS_NAMES_USERS;
	int rc;
	json_t *list;

	if (user[0] && !users)
		return ibcc_why_set(
			why, -EACCES,
			"the configuration keeps users back (jobs_names): ask for a job "
			"by its number");
	rc = ibcc_service_open_state(s, why);
	if (rc)
		return rc;
	list = ibcc_state_jobs(s->state, now_s - since_s, user, id, &rc, why);
	/* On a new host there is no file, and only the daemon may create one. */
	if (!list && access(s->config.state_file, F_OK) && errno == ENOENT)
		list = json_array();
	if (!list)
		return rc;
	keep_back_json(list, s->config.jobs_names);
	*out = json_pack("{si sI so}", "schema", IBCC_REPORT_SCHEMA, "since",
			 (json_int_t)(now_s - since_s), "jobs", list);
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

static void take_sum(struct ibcc_metrics_job *to, const struct ibcc_whose_sum *sum)
{
	to->share_permille = sum->share_permille;
	to->blocked = sum->n_victims;
}

void ibcc_service_jobs_metrics(const struct ibcc_service *s, struct ibcc_metrics_jobs *out)
{
	const struct ibcc_service_jobs *j = s->jobs;
	int64_t now_s = (int64_t)time(NULL);
	struct ibcc_whose_sums sums;

	*out = (struct ibcc_metrics_jobs){ .known = false };
	if (!is_used(j) || ibcc_whose_sum_up(&j->map, &j->hosts, s->cycle.topo, j->evidence,
					     j->share, j->n_shares, &sums))
		return;
	out->known = true;
	for (out->n = 0; out->n < sums.n; out->n++) {
		memcpy(out->job[out->n].id, j->map.job[sums.sum[out->n].job].id,
		       sizeof(out->job[0].id));
		take_sum(&out->job[out->n], &sums.sum[out->n]);
	}
	take_sum(&out->others, &sums.others);
	out->shared_permille = sums.shared_permille;
	out->nobody_permille = sums.nobody_permille;
	out->running = count_running(&j->map, now_s);
	out->unmatched = j->hosts.n_unmatched;
	out->age_s = now_s > j->map.made_s ? (uint64_t)(now_s - j->map.made_s) : 0;
}
