/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Puts the parts of a simulator together, and passes on what one finds to the next. The parts are
 * ibsim, the proxy, the observer that reads ibsim's fabric, the data plane (fabric.h), and the
 * requests of control. Begin with start().
 */
#include "sim/simulator.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <infiniband/mad.h>

#include <ibcc/config.h>
#include <ibcc/scenario_file.h>
#include <ibcc/sim_clock.h>

#include "sim/control.h"
#include "sim/fabric.h"
#include "sim/fast.h"
#include "sim/ibsim.h"
#include "sim/observer.h"
#include "sim/pace.h"
#include "sim/proxy.h"
#include "sim/requests.h"
#include "sim/upstream.h"

#define START_TIMEOUT_US 30000000u
#define LOST_MAX         5u /* ibsims in a row that end without showing a fabric */

struct simulator {
	const struct ibcc_simulator_options *o;
	struct ibcc_scenario scenario; /* topo NULL: there is none */
	struct ibcc_topo *netfile;     /* of a netfile that is run without a scenario */
	struct ibcc_fast *fast;
	int netfile_fd; /* the netfile in the form that ibsim reads */
	int clock_fd;
	char clock_path[128]; /* empty: the file was not made */
	sd_event *ev;
	struct ibcc_ibsim *ibsim;
	struct ibcc_upstream *up;
	struct ibcc_proxy *proxy;
	struct ibcc_observer *observer;
	struct ibcc_sim_fabric *fabric;
	struct ibcc_pace *pace;
	struct ibcc_requests requests;
	sd_event_source *start_timer;
	struct ibcc_ibsim_limits limits;
	bool ready;
	bool seen; /* the fabric of the present ibsim has been seen */
	unsigned int n_lost;
	bool refused; /* the scenario or netfile has errors, which have been printed */
};

static void fail(struct simulator *s, const char *what, int err)
{
	fprintf(stderr, "ibcc-sim: %s: %s\n", what, strerror(-err));
	sd_event_exit(s->ev, 1);
}

/* The proxy's side */

static int answer(void *arg, uint64_t node_guid, const struct ibcc_wire_mad *rq,
		  struct ibcc_wire_mad *reply)
{
	struct simulator *s = arg;
	int err;

	ibcc_pace_catch_up(s->pace);
	err = ibcc_sim_fabric_answer(s->fabric, node_guid, ntohs((uint16_t)rq->dlid),
				     ntohl(rq->dqp), rq->mad, reply->mad);

	if (!err)
		ibcc_sim_clock_stamp(reply->mad, ibcc_sim_fabric_now_ps(s->fabric) / 1000);
	if (!err && !reply->dlid) /* the client leaves its LID to the simulator */
		reply->dlid = htons(ibcc_sim_fabric_lid(s->fabric, node_guid));
	return err;
}

static uint16_t loss(void *arg, uint64_t node_guid, const struct ibcc_wire_mad *rq)
{
	struct simulator *s = arg;

	return ibcc_sim_fabric_loss(s->fabric, node_guid, ntohs((uint16_t)rq->dlid), rq->mad);
}

static uint16_t lid(void *arg, uint64_t node_guid)
{
	struct simulator *s = arg;

	return ibcc_sim_fabric_lid(s->fabric, node_guid);
}

static bool stale(void *arg)
{
	struct simulator *s = arg;

	return ibcc_observer_is_stale(s->observer);
}

static void changed(void *arg)
{
	struct simulator *s = arg;

	ibcc_observer_dirty(s->observer);
}

static void port_info(void *arg, uint64_t node_guid, uint8_t *info)
{
	struct simulator *s = arg;

	ibcc_fast_amend_port_info(s->fast, node_guid, mad_get_field(info, 0, IB_PORT_LOCAL_PORT_F),
				  info);
}

/* ibsim's side */

static void amend(void *arg, const struct ibcc_upstream_slot *slot, struct ibcc_wire_mad *m)
{
	struct simulator *s = arg;
	uint32_t lid = ibcc_wire_is_response(m->mad) ? m->slid : m->dlid;

	ibcc_fast_amend(s->fast, ibcc_upstream_node_guid(slot),
			ibcc_sim_fabric_lid_guid(s->fabric, ntohs((uint16_t)lid)), m->mad);
}

/* The fabric's side */

/* Reports flows whose end nodes are missing: such a flow would stand at 0 without a reason. */
static void tell_missing(const struct ibcc_sim_fabric *w)
{
	struct ibcc_sim_fabric_flow f;

	for (uint32_t i = 0; i < ibcc_sim_fabric_n_flows(w); i++) {
		ibcc_sim_fabric_flow_read(w, i, &f);
		if (f.missing)
			fprintf(stderr,
				"ibcc-sim: flow %s sends nothing: ibsim's fabric has no node %s, "
				"or no links lead to it from the first host\n",
				f.spec->name, f.missing);
	}
}

static void on_found(void *arg, struct ibcc_topo *t)
{
	struct simulator *s = arg;
	int err = t ? ibcc_sim_fabric_update(s->fabric, t) : -ECONNREFUSED;

	if (err) {
		fail(s, "cannot take over the fabric from ibsim", err);
		return;
	}
	s->seen = true;
	s->n_lost = 0;
	if (s->ready)
		return;
	s->ready = true;
	tell_missing(s->fabric);
	sd_event_source_set_enabled(s->start_timer, SD_EVENT_OFF);
	printf("ready %s\n", s->o->name);
	fflush(stdout);
}

static void on_link_event(void *arg, const struct ibcc_event_spec *v)
{
	struct simulator *s = arg;
	char line[128], id[IBCC_NETFILE_ID_BYTES];
	uint32_t node;
	int err;

	/* ibsim reads the netfile that was made of the scenario, and knows the names of that. */
	if (ibcc_topo_find_node(s->scenario.topo, v->node, &node))
		return;
	snprintf(line, sizeof(line), "%s \"%s\"[%u]",
		 v->kind == IBCC_EVENT_LINK_DOWN ? "Unlink" : "ReLink",
		 ibcc_netfile_id(s->scenario.topo, node, id), v->port);
	err = ibcc_ibsim_console(s->ibsim, line, NULL, NULL);
	if (err)
		fprintf(stderr, "ibcc-sim: %s: %s\n", line, strerror(-err));
	ibcc_observer_dirty(s->observer);
}

static void upstream_name(const struct simulator *s, char *buf, size_t len)
{
	snprintf(buf, len, "%s.ibsim", s->o->name);
}

static int start_ibsim(struct simulator *s);

static void on_died(void *arg, const char *why)
{
	struct simulator *s = arg;
	int err;

	fprintf(stderr, "ibcc-sim: %s\n", why);
	/* If the first ibsim ends before it has shown its fabric, the next one would, too. */
	if (!s->seen && (!s->ready || ++s->n_lost == LOST_MAX)) {
		sd_event_exit(s->ev, 1);
		return;
	}
	fprintf(stderr, "ibcc-sim: starting ibsim again; the subnet manager has to configure the "
			"fabric again\n");
	ibcc_ibsim_free(s->ibsim);
	err = start_ibsim(s);
	if (err) {
		fail(s, "cannot start ibsim again", err);
		return;
	}
	ibcc_upstream_restart(s->up);
	ibcc_observer_dirty(s->observer);
}

static int start_ibsim(struct simulator *s)
{
	char up[64];
	int err = 0;

	upstream_name(s, up, sizeof(up));
	s->seen = false;
	s->ibsim = ibcc_ibsim_start(s->ev, s->netfile_fd, up, &s->limits, on_died, s, &err);
	s->requests.ibsim = s->ibsim;
	return s->ibsim ? 0 : err;
}

static void on_engine_failed(void *arg, int err)
{
	fail(arg, "the packet engine failed", err);
}

static int on_start_timeout(sd_event_source *src, uint64_t usec, void *arg)
{
	(void)src;
	(void)usec;
	fail(arg, "ibsim shows no fabric", -ETIMEDOUT);
	return 0;
}

/* Start and end */

static void count_topo(const struct ibcc_topo *t, struct ibcc_ibsim_limits *l)
{
	uint32_t i;

	for (i = 0; t && i < t->n_nodes; i++)
		l->switches += ibcc_topo_is_switch(t, i);
	l->nodes = t ? t->n_nodes : 0;
	l->ports = t ? t->n_ports : 0;
}

static int told(struct simulator *s, struct ibcc_yaml_errors *errors, int err)
{
	if (errors->text)
		fputs(errors->text, stderr);
	s->refused = errors->text && err != -ENOMEM;
	ibcc_yaml_errors_fini(errors);
	return err;
}

/* Writes the scenario's topology as a netfile without a name. NULL: see errno. */
static FILE *write_scenario(const struct simulator *s)
{
	FILE *f = tmpfile();

	if (!f || (!ibcc_netfile_write(s->scenario.topo, f) && !fseek(f, 0, SEEK_SET)))
		return f;
	fclose(f);
	errno = EIO;
	return NULL;
}

/* Reads the netfile at `path`, which is open as `in`, and makes the copy of it that ibsim reads. */
static int read_netfile(struct simulator *s, const char *path, FILE *in)
{
	struct ibcc_yaml_errors errors = { 0 };
	FILE *out;
	int err;

	s->netfile = ibcc_netfile_load(path, &errors);
	err = told(s, &errors, s->netfile ? 0 : -EINVAL);
	if (!err && !in) /* it has come between the two attempts to open it */
		err = -ENOENT;
	if (err)
		return err;
	count_topo(s->netfile, &s->limits);
	s->requests.names = s->netfile;
	s->fast = ibcc_fast_new(s->netfile);
	if (!s->fast)
		return -ENOMEM;
	s->netfile_fd = memfd_create("netfile", MFD_CLOEXEC);
	out = s->netfile_fd < 0 ? NULL : fdopen(dup(s->netfile_fd), "w");
	if (!out)
		return -errno;
	err = ibcc_netfile_copy_for_ibsim(in, out);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

/* Reads the input: a scenario, or a netfile alone. */
static int load(struct simulator *s)
{
	struct ibcc_yaml_errors errors = { 0 };
	char path[32];
	FILE *in;
	int err = 0;

	if (!s->o->netfile) {
		err = ibcc_scenario_load(s->o->scenario, &s->scenario, &errors);
		err = told(s, &errors, err);
	}
	if (err)
		return err;
	in = s->o->netfile ? fopen(s->o->netfile, "re") : write_scenario(s);
	/* A netfile that cannot be opened is reported by ibcc_netfile_load(). */
	if (!in && !s->o->netfile)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in ? fileno(in) : -1);
	err = read_netfile(s, s->o->netfile ? s->o->netfile : path, in);
	if (in)
		fclose(in);
	return err;
}

static int start_loop(struct simulator *s)
{
	uint64_t now;
	sigset_t set;
	int err = sd_event_new(&s->ev);

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (err >= 0)
		err = sd_event_add_signal(s->ev, NULL, SIGINT, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(s->ev, NULL, SIGTERM, NULL, NULL);
	if (err >= 0)
		err = sd_event_now(s->ev, CLOCK_MONOTONIC, &now);
	if (err >= 0)
		err = sd_event_add_time(s->ev, &s->start_timer, CLOCK_MONOTONIC,
					now + START_TIMEOUT_US, 1000, on_start_timeout, s);
	return err < 0 ? err : 0;
}

static int start_clock(struct simulator *s)
{
	char path[sizeof(s->clock_path)];
	int err = 0;

	if (ibcc_sim_clock_path(s->o->name, path, sizeof(path)) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	s->clock_fd = ibcc_sim_clock_create(path);
	if (s->clock_fd < 0) {
		fprintf(stderr, "ibcc-sim: %s: %s\n", path, strerror(-s->clock_fd));
		return s->clock_fd;
	}
	memcpy(s->clock_path, path, sizeof(path));
	err = ibcc_sim_clock_write(s->clock_fd, 0, 0);
	if (err)
		fprintf(stderr, "ibcc-sim: %s: %s\n", path, strerror(-err));
	return err;
}

static int start(struct simulator *s)
{
	const struct ibcc_proxy_ops ops = { .answer = answer,
					    .loss = loss,
					    .lid = lid,
					    .port_info = port_info,
					    .stale = stale,
					    .changed = changed,
					    .arg = s };
	const struct ibcc_scenario *sc;
	char up[64], address[128];
	int err = load(s);

	if (!err)
		err = start_loop(s);
	if (err)
		return err;
	sc = s->scenario.topo ? &s->scenario : NULL;
	upstream_name(s, up, sizeof(up));
	s->up = ibcc_upstream_new(s->ev, up, &err);
	if (!s->up)
		return err;
	ibcc_upstream_on_mad(s->up, amend, s);
	s->fabric = ibcc_sim_fabric_new(sc);
	if (!s->fabric)
		return -ENOMEM;
	ibcc_sim_fabric_on_link_event(s->fabric, on_link_event, s);
	s->requests.fabric = s->fabric;
	ibcc_control_address(s->o->name, address, sizeof(address));
	s->requests.server =
		ibcc_jsonl_listen(s->ev, address, ibcc_requests_answer, &s->requests, &err);
	if (!s->requests.server)
		return err;
	/* The socket's name is ours by now, and so is the file. */
	err = start_clock(s);
	if (err)
		return err;
	s->pace = ibcc_pace_new(s->ev, s->fabric, s->o->speed, s->clock_fd, on_engine_failed, s,
				&err);
	if (!s->pace)
		return err;
	s->requests.pace = s->pace;
	s->proxy = ibcc_proxy_new(s->ev, s->up, s->o->name, &ops, &err);
	if (!s->proxy)
		return err;
	ibcc_proxy_knobs(s->proxy)->mad_loss_permille = s->o->mad_loss_permille;
	ibcc_proxy_knobs(s->proxy)->mad_delay_us = s->o->mad_delay_us;
	err = start_ibsim(s);
	if (err)
		return err;
	s->requests.proxy = s->proxy;
	s->requests.changed = changed;
	s->requests.arg = s;
	s->observer = ibcc_observer_new(s->ev, s->up, sc && sc->model.vls > 1, on_found, s, &err);
	return s->observer ? 0 : err;
}

int ibcc_simulator_run(const struct ibcc_simulator_options *o)
{
	struct simulator s = { .o = o, .netfile_fd = -1, .clock_fd = -1 };
	int r = start(&s);

	if (!r)
		r = sd_event_loop(s.ev);
	else if (!s.refused)
		fprintf(stderr, "ibcc-sim: %s: %s\n", o->name,
			r == -EADDRINUSE ? "a simulator of this name is running: choose another "
					   "name with --name"
					 : strerror(-r));
	ibcc_jsonl_free(s.requests.server);
	ibcc_proxy_free(s.proxy);
	ibcc_observer_free(s.observer);
	ibcc_upstream_free(s.up);
	ibcc_ibsim_free(s.ibsim);
	ibcc_pace_free(s.pace);
	ibcc_sim_fabric_free(s.fabric);
	ibcc_scenario_fini(&s.scenario);
	ibcc_topo_free(s.netfile);
	ibcc_fast_free(s.fast);
	if (s.netfile_fd >= 0)
		close(s.netfile_fd);
	if (s.clock_path[0])
		unlink(s.clock_path);
	if (s.clock_fd >= 0)
		close(s.clock_fd);
	sd_event_source_disable_unref(s.start_timer);
	sd_event_unref(s.ev);
	if (s.refused)
		return IBCC_CONFIG_EXIT_STATUS;
	return r ? 1 : 0;
}
