/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Opens and reopens what a service needs. A fabric comes and goes: port down, SM restarted, plugin
 * not there yet; so everything here may fail now and work at the next pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/version.h>

#include "daemon/apply/plugin_client.h"
#include "daemon/service_impl.h"
#include "daemon/sm.h"
#include "daemon/state/state.h"

/* Nobody tells us about changes when there is no plugin, so look again after so long, and sooner
 * when ports do not answer, since something may have moved: after some intervals within bounds, but
 * so that most of the time is left for the counters.
 */
#define SECOND_NS      1000000000ull
#define REDISCOVER_NS  (60 * SECOND_NS)
#define SICK_INTERVALS 10u
#define SICK_LEAST_NS  (2 * SECOND_NS)
#define SICK_MOST_NS   (10 * SECOND_NS)
#define SICK_SHARE     4u
/* Between two looks at how large the history is. */
#define PRUNE_NS (60 * SECOND_NS)
/* So many discoveries at most in a row until the first topology has no gaps. */
#define FIRST_DISCOVERIES 5u

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

const char *ibcc_service_source_name(enum ibcc_topo_source source)
{
	switch (source) {
	case IBCC_TOPO_FROM_NOWHERE: return "none";
	case IBCC_TOPO_FROM_PLUGIN: return "plugin";
	case IBCC_TOPO_FROM_DISCOVERY: return "discovery";
	}
	return "none";
}

struct ibcc_service *ibcc_service_new(const struct ibcc_config *config, uint64_t cc_key)
{
	struct ibcc_service *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = *config;
	s->stage = "nothing";
	pthread_mutex_init(&s->lock, NULL);
	s->null_applier = ibcc_applier_null_new();
	s->plugin = ibcc_plugin_new(config->plugin_socket);
	if (s->null_applier && s->plugin && !ibcc_service_new_keys(s, config, cc_key))
		return s;
	ibcc_service_free(s);
	return NULL;
}

static void set_transport(struct ibcc_service *s, struct ibcc_transport *t)
{
	struct ibcc_transport *old;

	pthread_mutex_lock(&s->lock);
	old = s->transport;
	s->transport = t;
	pthread_mutex_unlock(&s->lock);
	ibcc_transport_free(old);
}

void ibcc_service_drop(struct ibcc_service *s)
{
	ibcc_cycle_fini(&s->cycle);
	ibcc_applier_free(s->applier);
	s->applier = NULL;
	s->source = IBCC_TOPO_FROM_NOWHERE;
	s->discovery = (struct ibcc_discovery){ 0 };
	set_transport(s, NULL);
}

void ibcc_service_free(struct ibcc_service *s)
{
	if (!s)
		return;
	ibcc_service_drop(s);
	ibcc_applier_free(s->null_applier);
	ibcc_plugin_free(s->plugin);
	ibcc_keyring_free(s->keyring);
	ibcc_state_close(s->state);
	pthread_mutex_destroy(&s->lock);
	free(s->paused);
	free(s);
}

const char *ibcc_service_stage(const struct ibcc_service *s)
{
	return s->stage;
}

void ibcc_service_cancel(struct ibcc_service *s)
{
	s->canceled = true;
	pthread_mutex_lock(&s->lock);
	if (s->transport)
		ibcc_transport_cancel(s->transport);
	ibcc_plugin_cancel(s->plugin);
	pthread_mutex_unlock(&s->lock);
}

static void read_pause(struct ibcc_service *s)
{
	free(s->paused);
	s->paused = ibcc_state_note(s->state, "paused");
}

/* Without the note a restart would forget the pause, so it is written as soon as it can be. */
static void write_pause(struct ibcc_service *s)
{
	s->pause_unwritten =
		s->state && ibcc_state_note_set(s->state, "paused", s->paused ? s->paused : "");
}

int ibcc_service_open_state(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc = 0;

	if (s->state)
		return 0;
	s->state = ibcc_state_open(s->config.state_file, &rc, why);
	if (!s->state)
		return rc;
	read_pause(s);
	return 0;
}

/* What cannot be forgotten now will be another time. */
static void prune(struct ibcc_service *s)
{
	uint64_t now = monotonic_ns();

	if (s->pruned_ns && now - s->pruned_ns < PRUNE_NS)
		return;
	s->pruned_ns = now;
	ibcc_state_prune(s->state, (int64_t)time(NULL), (uint64_t)s->config.history_mb << 20);
}

/* Whatever happened to the state file, a pass goes on. */
int ibcc_service_check_state(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc = ibcc_service_open_state(s, why);
	bool trouble, known;

	if (rc)
		return rc;
	prune(s);
	trouble = ibcc_state_trouble(s->state);
	known = ibcc_state_is_known(s->state);
	rc = ibcc_state_check(s->state, why);
	if (!trouble || rc)
		return rc;
	if (s->pause_unwritten)
		write_pause(s);
	if (known)
		return 0;
	read_pause(s);
	if (s->transport)
		ibcc_cycle_forget(&s->cycle);
	return 0;
}

void ibcc_service_pause(struct ibcc_service *s, const char *text)
{
	free(s->paused);
	s->paused = text ? strdup(text) : NULL;
	write_pause(s);
}

static int open_port(struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_config *c = &s->config;
	struct ibcc_umad_options u = { .ca = c->ca[0] ? c->ca : NULL,
				       .port = c->port,
				       .window = c->window,
				       .timeout_ms = c->timeout_ms,
				       .retries = c->retries };
	struct ibcc_cycle_options o = { .clock = (enum ibcc_clock)c->clock,
					.pass_deadline_ns = c->pass_deadline_ms * 1000000ull,
					.cc_key = s->cc_key,
					.clear_counters = c->clear_counters,
					.trust_lft = c->trust_lft,
					.estimator = c->estimator,
					.tuner = c->tuner };
	struct ibcc_transport *t;
	struct ibcc_why said = { "" };
	int rc = 0;

	t = ibcc_umad_open(&u, &rc, said.text, sizeof(said.text));
	if (!t)
		return ibcc_why_set(why, rc, "%s", said.text);
	if (s->keyring)
		t = ibcc_keyring_transport(s->keyring, t);
	if (!t)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	set_transport(s, t);
	s->applier = c->apply_via == IBCC_VIA_DIRECT
			     ? ibcc_applier_direct_new(t, s->cc_key, true)
			     : ibcc_applier_plugin_new(s->plugin, s->default_key);
	rc = ibcc_cycle_init(&s->cycle, &o, t);
	if (rc || !s->applier) {
		ibcc_service_drop(s);
		return ibcc_why_set(why, -ENOMEM, "no memory");
	}
	ibcc_applier_set_keyring(s->applier, s->keyring);
	ibcc_applier_set_bounds(s->applier, &c->bounds);
	ibcc_applier_set_bounds(s->null_applier, &c->bounds);
	return 0;
}

/* Is there a plugin, and does it answer? */
static bool plugin_answers(struct ibcc_service *s, struct ibcc_why *why)
{
	uint64_t patience_ms = 3ull * s->config.interval_ms;
	int rc;

	if (patience_ms < IBCC_PLUGIN_PATIENCE_MS)
		patience_ms = IBCC_PLUGIN_PATIENCE_MS;
	if (patience_ms > IBCC_PLUGIN_SILENCE_MS)
		patience_ms = IBCC_PLUGIN_SILENCE_MS;
	ibcc_plugin_poll(s->plugin);
	why->text[0] = '\0';
	rc = ibcc_plugin_connect(s->plugin, why);
	if (!rc && ibcc_plugin_silent_ms(s->plugin) > patience_ms)
		rc = ibcc_plugin_stopped(s->plugin, why);
	s->plugin_silent = rc == -ETIMEDOUT;
	return !rc;
}

/* With direct writing the plugin is not asked for anything. */
static bool plugin_there(struct ibcc_service *s)
{
	bool was_there = !s->plugin_why.text[0];

	if (s->config.apply_via == IBCC_VIA_DIRECT)
		return false;
	s->stage = "asking the OpenSM plugin";
	if (!plugin_answers(s, &s->plugin_why))
		return false;
	/* What failed without it need not fail again. */
	if (!was_there)
		s->hold = s->hold_next = 0;
	return true;
}

static int adopt_topology(struct ibcc_service *s, struct ibcc_topo *t, enum ibcc_topo_source source,
			  struct ibcc_why *why)
{
	if (ibcc_cycle_set_topology(&s->cycle, t))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	s->source = source;
	s->topo_ns = monotonic_ns();
	return 0;
}

static int discover(struct ibcc_service *s, struct ibcc_why *why)
{
	struct ibcc_why said = { "" };
	struct ibcc_topo *t;
	uint64_t gaps = 0, from = monotonic_ns();
	int rc = 0;

	t = ibcc_discover_walk(s->transport, &gaps, &rc, said.text, sizeof(said.text));
	s->discovery_ns = monotonic_ns() - from;
	if (!t)
		return ibcc_why_set(why, rc, "discovery of the fabric failed: %s", said.text);
	if (ibcc_discovery_judge(&s->discovery, s->cycle.topo, t, gaps, said.text))
		return adopt_topology(s, t, IBCC_TOPO_FROM_DISCOVERY, why);
	ibcc_topo_free(t);
	s->topo_ns = monotonic_ns();
	return 0;
}

static int topology_by_discovery(struct ibcc_service *s, struct ibcc_why *why)
{
	unsigned int most = s->cycle.topo ? 1 : FIRST_DISCOVERIES;
	int rc;

	s->stage = "discovering the fabric";
	rc = ibcc_sm_check(s->transport, why);
	for (unsigned int i = 0; !rc && i < most && (!i || s->discovery.partial); i++)
		rc = discover(s, why);
	return rc;
}

int ibcc_service_is_whole(const struct ibcc_service *s, struct ibcc_why *why)
{
	if (!s->discovery.partial)
		return 0;
	return ibcc_why_set(why, -ENODATA,
			    "discovery of the fabric is %s: nothing is decided on it",
			    s->discovery.text.text);
}

int ibcc_service_missed(const struct ibcc_service *s, int rc, struct ibcc_why *why)
{
	if (rc || !s->discovery.text.text[0])
		return rc;
	return ibcc_why_set(why, -EHOSTUNREACH,
			    "discovery of the fabric is %s: what it missed has not been reached",
			    s->discovery.text.text);
}

/* Whoever was master meanwhile may have written settings. */
static void look_at_sm(struct ibcc_service *s)
{
	uint32_t state = ibcc_plugin_state(s->plugin)->sm_state;

	if (state != s->sm_state && state == IBCC_SM_MASTER)
		s->cycle.actual_known = false;
	s->sm_state = state;
}

static uint64_t rediscover_ns(const struct ibcc_service *s)
{
	const struct ibcc_snapshot *seen = &s->cycle.snapshot;
	uint64_t ns = SICK_INTERVALS * 1000000ull * s->config.interval_ms;

	if (!seen->n_stale && !seen->n_unreachable && !ibcc_discovery_is_doubtful(&s->discovery))
		return REDISCOVER_NS;
	ns = ns < SICK_LEAST_NS ? SICK_LEAST_NS : ns > SICK_MOST_NS ? SICK_MOST_NS : ns;
	return ns > SICK_SHARE * s->discovery_ns ? ns : SICK_SHARE * s->discovery_ns;
}

static int refresh_topology(struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_topo *have = s->cycle.topo;
	struct ibcc_topo *t;
	int rc = 0;

	if (plugin_there(s)) {
		look_at_sm(s);
		if (s->source == IBCC_TOPO_FROM_PLUGIN &&
		    have->generation == ibcc_plugin_state(s->plugin)->generation)
			return 0;
		t = ibcc_plugin_topology(s->plugin, &rc, why);
		s->cycle.actual_known = false; /* another SM process, or another fabric */
		s->discovery = (struct ibcc_discovery){ 0 };
		return t ? adopt_topology(s, t, IBCC_TOPO_FROM_PLUGIN, why) : rc;
	}
	if (have && monotonic_ns() - s->topo_ns < rediscover_ns(s))
		return 0;
	return topology_by_discovery(s, why);
}

int ibcc_service_prepare(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc = 0;

	if (s->canceled)
		return ibcc_why_set(why, -ECANCELED, "canceled");
	if (!s->transport) {
		s->stage = "opening the port";
		rc = open_port(s, why);
	}
	if (!rc)
		rc = refresh_topology(s, why);
	if (!rc)
		rc = ibcc_service_look_at_keys(s, why);
	if (rc == -EIO)
		ibcc_service_drop(s);
	s->stage = "reading the fabric or writing to it";
	return rc;
}

int ibcc_service_read_all(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc = ibcc_service_prepare(s, why);

	if (!rc && ibcc_service_check_state(s, why) == -ENOMEM)
		rc = -ENOMEM;
	return rc ? rc : ibcc_cycle_readback(&s->cycle, why);
}

int ibcc_service_reconfigure(struct ibcc_service *s, const struct ibcc_config *config,
			     uint64_t cc_key)
{
	const struct ibcc_config *old = &s->config;
	bool same_plugin = !strcmp(old->plugin_socket, config->plugin_socket);
	bool same_port = !strcmp(old->ca, config->ca) && old->port == config->port &&
			 old->timeout_ms == config->timeout_ms && old->retries == config->retries &&
			 old->pass_deadline_ms == config->pass_deadline_ms &&
			 old->clear_counters == config->clear_counters &&
			 old->window == config->window && old->clock == config->clock &&
			 old->apply_via == config->apply_via && s->default_key == cc_key &&
			 !strcmp(old->key_dir, config->key_dir);
	struct ibcc_plugin *plugin = NULL, *old_plugin = NULL;

	if (!same_plugin && !(plugin = ibcc_plugin_new(config->plugin_socket)))
		return -ENOMEM;
	if (!same_port || !same_plugin) {
		ibcc_service_drop(s);
		if (ibcc_service_new_keys(s, config, cc_key)) {
			ibcc_plugin_free(plugin);
			return -ENOMEM;
		}
	} else if (s->transport &&
		   (memcmp(&old->tuner, &config->tuner, sizeof(old->tuner)) ||
		    memcmp(&old->estimator, &config->estimator, sizeof(old->estimator)) ||
		    old->mode != config->mode) &&
		   ibcc_cycle_retune(&s->cycle, &config->estimator, &config->tuner)) {
		return -ENOMEM; /* no new plugin in this branch */
	}
	if (plugin) {
		pthread_mutex_lock(&s->lock);
		old_plugin = s->plugin;
		s->plugin = plugin;
		pthread_mutex_unlock(&s->lock);
		ibcc_plugin_free(old_plugin);
	}
	s->config = *config;
	s->cycle.options.trust_lft = config->trust_lft;
	s->hold = 0;
	s->hold_next = 0;
	if (s->applier)
		ibcc_applier_set_bounds(s->applier, &config->bounds);
	ibcc_applier_set_bounds(s->null_applier, &config->bounds);
	return 0;
}
