/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Opens and reopens what a service needs. A fabric comes and goes: the port is down, the SM
 * restarts, the plugin is not there yet. So everything here may fail now and work in the next
 * polling cycle.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <ibcc/now.h>
#include <ibcc/plugin_client.h>
#include <ibcc/state.h>
#include <ibcc/version.h>

#include "daemon/service/service_impl.h"

#define SECOND_NS 1000000000ull
/* Interval between checks of the history's size. */
#define PRUNE_NS (60 * SECOND_NS)

struct ibcc_service *ibcc_service_new(const struct ibcc_config *config, uint64_t cc_key)
{
	struct ibcc_service *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = *config;
	s->stage = "nothing";
	s->port_lock = -1;
	/* Without the number, other runs at this port are taken for this run, because the port is
	 * its own.
	 */
	if (getrandom(&s->run, sizeof(s->run), 0) < 0)
		s->run = 0;
	pthread_mutex_init(&s->lock, NULL);
	s->null_applier = ibcc_applier_null_new();
	s->plugin = ibcc_plugin_new(config->plugin_socket);
	s->predictor = ibcc_predictor_new(config->predict_cpu_s);
	s->jobs = ibcc_service_jobs_new(config);
	if (s->predictor)
		ibcc_predictor_configure(s->predictor, config->predict_cpu_s,
					 config->prefer == IBCC_PREFER_LATENCY);
	if (s->null_applier && s->plugin && s->predictor && s->jobs &&
	    !ibcc_service_new_keys(s, config, cc_key))
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
	ibcc_service_deafen(s);
	ibcc_mad_rate_fini(&s->mad_rate);
	ibcc_applier_free(s->applier);
	s->applier = NULL;
	s->source = IBCC_TOPO_FROM_NOWHERE;
	ibcc_discovery_reset(&s->discovery);
	s->again = (struct ibcc_rediscovery){ 0 };
	set_transport(s, NULL);
}

void ibcc_service_free(struct ibcc_service *s)
{
	if (!s)
		return;
	ibcc_predictor_free(s->predictor);
	ibcc_service_end_jobs(s);
	json_decref(s->asked);
	json_decref(s->parameters);
	ibcc_plan_fini(&s->asked_plan);
	ibcc_control_fini(&s->asked_control);
	ibcc_service_drop(s);
	ibcc_applier_free(s->null_applier);
	ibcc_plugin_free(s->plugin);
	ibcc_keyring_free(s->keyring);
	ibcc_service_effect_fini(&s->effect);
	ibcc_state_close(s->state);
	ibcc_service_unlock_port(s);
	pthread_mutex_destroy(&s->lock);
	free(s->refinement.nodes);
	ibcc_debts_fini(&s->debts.list);
	ibcc_repair_counts_fini(&s->repairs.counts);
	free(s->paused);
	free(s);
}

void ibcc_service_claim(struct ibcc_service *s)
{
	s->alone = true;
}

void ibcc_service_listen(struct ibcc_service *s)
{
	s->listens = true;
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

/* Reads the number of our run before this one, as its record with subnet administration has it. */
static void read_run_before(struct ibcc_service *s)
{
	char *text = ibcc_state_note(s->state, "election_run");

	s->run_before = text ? strtoull(text, NULL, 16) : 0;
	free(text);
}

/* Records the number of this run as soon as the state file can be written: without it the run after
 * a crash takes our record for another daemon's, and waits until its lease ends. A program that
 * runs only one command records none.
 */
static void note_run(struct ibcc_service *s)
{
	char now[32];

	if (s->run_noted || !s->listens)
		return;
	snprintf(now, sizeof(now), "%" PRIx64, s->run);
	s->run_noted = !ibcc_state_note_set(s->state, "election_run", now);
}

/* Without the note a restart would forget the pause, so it is written as soon as possible. */
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
	if (s->alone) /* what cannot be closed now is closed when the file can be written */
		(void)ibcc_state_claim(s->state);
	read_pause(s);
	read_run_before(s);
	note_run(s);
	s->others_newest = ibcc_state_newest_of_others(s->state);
	ibcc_service_find_trial(s);
	ibcc_service_resume_effect(s);
	ibcc_service_find_refinement(s);
	ibcc_service_find_debts(s);
	return 0;
}

/* What cannot be dropped now is dropped later. */
static void prune(struct ibcc_service *s)
{
	uint64_t now = ibcc_now_ns();

	if (s->pruned_ns && now - s->pruned_ns < PRUNE_NS)
		return;
	s->pruned_ns = now;
	ibcc_state_prune(s->state, (int64_t)time(NULL), (uint64_t)s->config.history_mb << 20);
}

/* While our process was stopped, root may have written in our place. Then what we remember is old.
 */
static void look_for_others(struct ibcc_service *s)
{
	int64_t newest = ibcc_state_newest_of_others(s->state), before = s->others_newest;

	if (newest < 0)
		return;
	s->others_newest = newest;
	if (before < 0 || newest <= before)
		return;
	read_pause(s);
	ibcc_service_end_refinement(s, "another program wrote to the fabric");
	ibcc_service_drop_trial(s, NULL, NULL);
	ibcc_service_find_debts(s);
	if (s->transport)
		ibcc_service_forget(s);
}

/* A polling cycle goes on, whatever is wrong with the state file. */
int ibcc_service_check_state(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc = ibcc_service_open_state(s, why);
	bool trouble, known;

	if (rc)
		return rc;
	prune(s);
	look_for_others(s);
	trouble = ibcc_state_trouble(s->state);
	known = ibcc_state_is_known(s->state);
	rc = ibcc_state_check(s->state, why);
	if (!trouble || rc)
		return rc;
	ibcc_service_find_trial(s);
	ibcc_service_find_debts(s);
	if (s->pause_unwritten)
		write_pause(s);
	/* This may be another file, or the first moment in which ours can be read. */
	if (!s->run_noted)
		read_run_before(s);
	s->run_noted = false;
	note_run(s);
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

/* Of how many nodes ports are read between two passes over all. */
static uint32_t focus_nodes(const struct ibcc_config *c)
{
	return c->fast_interval_ms < c->interval_ms ? c->fast_nodes : 0;
}

/* Takes a transport, on which the applier and the cycle work from now on. -ENOMEM. */
static int use_transport(struct ibcc_service *s, struct ibcc_transport *t,
			 struct ibcc_applier *applier)
{
	const struct ibcc_config *c = &s->config;
	const struct ibcc_cycle_options o = { .pass_deadline_ns = c->pass_deadline_ms * 1000000ull,
					      .cc_key = s->cc_key,
					      .clear_counters = c->clear_counters,
					      .trust_lft = c->trust_lft,
					      .canary = c->rollout == IBCC_ROLLOUT_WAY_CANARY,
					      .focus_nodes = focus_nodes(c),
					      .estimator = c->estimator,
					      .tuner = c->tuner };

	set_transport(s, t);
	s->applier = applier;
	if (!ibcc_cycle_init(&s->cycle, &o, t) && applier)
		return 0;
	ibcc_service_drop(s);
	return -ENOMEM;
}

int ibcc_service_open_on(struct ibcc_service *s, struct ibcc_transport *t, struct ibcc_topo *topo)
{
	int rc = use_transport(s, t, ibcc_applier_null_new());

	if (rc) {
		ibcc_topo_free(topo);
		return rc;
	}
	s->cycle.options.cpu_ns = ibcc_now_cpu_ns;
	s->again.last_ns = ibcc_now_ns();
	ibcc_service_rematch_jobs(s);
	return ibcc_cycle_set_topology(&s->cycle, topo);
}

/* Opens the port that the configuration names, or else the plugin's port. */
static int open_port(struct ibcc_service *s, uint64_t plugins_guid, struct ibcc_why *why)
{
	const struct ibcc_config *c = &s->config;
	struct ibcc_umad_options u = { .ca = c->ca[0] ? c->ca : NULL,
				       .port = c->port,
				       .port_guid = c->ca[0] || c->port ? 0 : plugins_guid,
				       .window = c->window,
				       .node_window = c->node_window,
				       .node_gap_us = c->node_gap_us,
				       .timeout_ms = c->timeout_ms,
				       .retries = c->retries };
	struct ibcc_transport *umad, *t;
	struct ibcc_why said = { "" };
	int rc = 0;

	t = umad = ibcc_umad_open(&u, &rc, said.text, sizeof(said.text));
	if (!t)
		return ibcc_why_set(why, rc, "%s%s", said.text,
				    u.port_guid && rc == -ENODEV
					    ? ", where the OpenSM of the plugin is, perhaps on "
					      "another fabric: set plugin_socket to that of the "
					      "other OpenSM"
					    : "");
	if (s->keyring) {
		/* Discovery may need M_Keys. The first polling cycle reports what is wrong with the
		 * files.
		 */
		(void)ibcc_keyring_check(s->keyring, NULL);
		t = ibcc_keyring_transport(s->keyring, t);
	}
	if (!t)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	s->umad = umad;
	rc = use_transport(s, t,
			   c->apply_via == IBCC_VIA_DIRECT
				   ? ibcc_applier_direct_new(t, s->cc_key, true)
				   : ibcc_applier_plugin_new(s->plugin, s->default_key));
	if (rc)
		return ibcc_why_set(why, rc, "no memory");
	ibcc_applier_set_keyring(s->applier, s->keyring);
	return 0;
}

/* Do we use the port of the subnet manager that the plugin belongs to? Another port may be on
 * another fabric.
 */
static bool is_plugins_port(const struct ibcc_service *s)
{
	uint64_t guid = ibcc_plugin_state(s->plugin)->port_guid;

	return !guid || ibcc_umad_port_guid(s->umad) == guid;
}

static int other_port(struct ibcc_service *s, struct ibcc_why *why)
{
	uint64_t ours = ibcc_umad_port_guid(s->umad);

	ibcc_service_drop(s);
	return ibcc_why_set(
		why, -EXDEV,
		"ca and port name the port 0x%016" PRIx64
		", but the OpenSM of the plugin is at port 0x%016" PRIx64
		", perhaps on another fabric: leave ca and port out, or set plugin_socket "
		"to that of the other OpenSM",
		ours, ibcc_plugin_state(s->plugin)->port_guid);
}

static uint32_t tighter(uint32_t ours, uint32_t theirs)
{
	return theirs && theirs < ours ? theirs : ours;
}

/* Uses the tighter of our bounds and the plugin's: it would refuse a plan beyond its own. */
static void set_bounds(struct ibcc_service *s, const struct ibcc_proto_state *p)
{
	struct ibcc_bounds b = s->config.bounds;

	if (p) {
		b.max_delay = tighter(b.max_delay, p->max_delay);
		b.max_timer = (uint16_t)tighter(b.max_timer, p->max_timer);
	}
	ibcc_applier_set_bounds(s->applier, &b);
	ibcc_applier_set_bounds(s->null_applier, &b);
}

int ibcc_service_prepare(struct ibcc_service *s, struct ibcc_why *why)
{
	bool plugin;
	int rc = 0;

	if (s->canceled)
		return ibcc_why_set(why, -ECANCELED, "canceled");
	plugin = ibcc_service_plugin_there(s);
	if (plugin && s->transport && !is_plugins_port(s))
		ibcc_service_drop(s);
	if (!s->transport) {
		s->stage = "opening the port";
		rc = open_port(s, plugin ? ibcc_plugin_state(s->plugin)->port_guid : 0, why);
	}
	if (!rc && plugin && !is_plugins_port(s))
		rc = other_port(s, why);
	if (s->applier)
		set_bounds(s, plugin ? ibcc_plugin_state(s->plugin) : NULL);
	if (!rc)
		rc = ibcc_service_refresh_topology(s, plugin, why);
	if (!rc)
		rc = ibcc_service_look_at_keys(s, why);
	if (!rc)
		ibcc_service_look_at_nvidia(s, IBCC_SERVICE_WRITES_NOT);
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
			 old->window == config->window && old->node_window == config->node_window &&
			 old->node_gap_us == config->node_gap_us &&
			 old->apply_via == config->apply_via && s->default_key == cc_key &&
			 !strcmp(old->key_dir, config->key_dir);
	bool same_jobs = !strcmp(old->jobs_file, config->jobs_file) &&
			 !strcmp(old->jobs_host_pattern, config->jobs_host_pattern) &&
			 old->jobs_names == config->jobs_names;
	struct ibcc_plugin *plugin = NULL, *old_plugin = NULL;
	struct ibcc_service_jobs *jobs;

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
	ibcc_predictor_configure(s->predictor, config->predict_cpu_s,
				 config->prefer == IBCC_PREFER_LATENCY);
	if (plugin) {
		pthread_mutex_lock(&s->lock);
		old_plugin = s->plugin;
		s->plugin = plugin;
		pthread_mutex_unlock(&s->lock);
		ibcc_plugin_free(old_plugin);
	}
	if (old->mode != config->mode && config->mode == IBCC_MODE_OBSERVE)
		ibcc_service_end_refinement(s, "the configuration has mode: observe now");
	/* Without memory the jobs of before stay. */
	jobs = same_jobs ? NULL : ibcc_service_jobs_new(config);
	if (jobs) {
		ibcc_service_end_jobs(s);
		s->jobs = jobs;
	}
	if (old->vendor_writes != config->vendor_writes)
		s->cycle.actual_known = false;
	s->config = *config;
	s->names_due = true;
	s->cycle.options.trust_lft = config->trust_lft;
	s->cycle.options.canary = config->rollout == IBCC_ROLLOUT_WAY_CANARY;
	s->cycle.options.focus_nodes = focus_nodes(config);
	ibcc_focus_fini(&s->cycle.focus);
	if (s->cycle.rollout.n_ignorers) /* another chance */
		s->cycle.actual_known = false;
	s->cycle.rollout = (struct ibcc_rollout){ 0 };
	s->hold = 0;
	s->hold_next = 0;
	return 0;
}
