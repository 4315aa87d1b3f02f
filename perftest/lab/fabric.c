/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/fabric.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibcc/file.h>

#include "perftest/lab/proc.h"

int ibcc_lab_fabric_file(const struct ibcc_lab_fabric *f, const char *name, char *path, size_t len)
{
	return snprintf(path, len, "%s/%s", f->folder, name) < (int)len ? 0 : -ENAMETOOLONG;
}

static int load(struct ibcc_lab_fabric *f, int (*write)(void *arg, FILE *out), void *arg,
		struct ibcc_yaml_errors *e)
{
	char path[IBCC_LAB_PATH_ROOM];
	int rc = ibcc_lab_fabric_file(f, "scenario.yaml", path, sizeof(path));

	if (!rc)
		rc = ibcc_file_write(path, write, arg);
	return rc ? rc : ibcc_scenario_load(path, &f->sc, e);
}

int ibcc_lab_fabric_open(struct ibcc_lab_fabric *f, int (*write)(void *arg, FILE *out), void *arg,
			 struct ibcc_yaml_errors *e)
{
	const struct ibcc_agents_options o = {
		.cct_blocks = 2, .wait_tick = 7, .ext_xmit_wait = true, .sw_port_block = 32
	};
	const char *tmp = getenv("TMPDIR");
	int rc;

	*f = (struct ibcc_lab_fabric){ .engine = NULL };
	snprintf(f->folder, sizeof(f->folder), "%s/ibcc-lab.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(f->folder)) {
		f->folder[0] = '\0';
		return -errno;
	}
	rc = load(f, write, arg, e);
	if (rc)
		return rc;
	f->engine = ibcc_engine_new(f->sc.topo, &f->sc.model, f->sc.seed, &rc);
	if (!f->engine)
		return rc;
	rc = ibcc_engine_load(f->engine, &f->sc, NULL);
	f->agents = rc ? NULL : ibcc_agents_new(f->sc.topo, f->engine, &o);
	if (!f->agents)
		return rc ? rc : -ENOMEM;
	return ibcc_agents_load(f->agents, &f->sc.cc);
}

void ibcc_lab_fabric_close(struct ibcc_lab_fabric *f)
{
	ibcc_agents_free(f->agents);
	ibcc_engine_free(f->engine);
	ibcc_scenario_fini(&f->sc);
	if (f->folder[0])
		ibcc_proc_remove(f->folder);
	*f = (struct ibcc_lab_fabric){ .engine = NULL };
}

static int configure(const struct ibcc_lab_fabric *f, const char *name, const char *jobs_file,
		     struct ibcc_config *c)
{
	int rc;

	ibcc_config_defaults(c, NULL);
	c->apply_via = IBCC_VIA_DIRECT;
	rc = ibcc_lab_fabric_file(f, name, c->state_file, sizeof(c->state_file));
	if (!rc)
		rc = ibcc_lab_fabric_file(f, "none", c->plugin_socket, sizeof(c->plugin_socket));
	if (snprintf(c->jobs_file, sizeof(c->jobs_file), "%s", jobs_file) >=
	    (int)sizeof(c->jobs_file))
		rc = -ENAMETOOLONG;
	return rc;
}

int ibcc_lab_daemon_open(struct ibcc_lab_daemon *d, struct ibcc_lab_fabric *f,
			 struct ibcc_topo *topo, const char *name, const char *jobs_file)
{
	struct ibcc_config c;
	int rc = topo ? configure(f, name, jobs_file, &c) : -ENOMEM;

	*d = (struct ibcc_lab_daemon){ .service = NULL };
	if (!rc) {
		d->transport = ibcc_inproc_new(f->agents, f->engine, f->sc.topo, NULL);
		d->service = ibcc_service_new(&c, 0);
		d->explain = ibcc_explain_new();
	}
	if (!d->service || !d->explain || !d->transport) {
		ibcc_transport_free(d->transport);
		d->transport = NULL;
		ibcc_topo_free(topo);
		return rc ? rc : -ENOMEM;
	}
	ibcc_service_claim(d->service);
	ibcc_service_listen(d->service);
	return ibcc_service_open_on(d->service, d->transport, topo);
}

double ibcc_lab_heap_mib(void)
{
	struct mallinfo2 i = mallinfo2();

	return (double)(i.uordblks + i.hblkhd) / (1 << 20);
}

double ibcc_lab_daemon_close(struct ibcc_lab_daemon *d)
{
	double before = ibcc_lab_heap_mib();

	ibcc_service_free(d->service);
	ibcc_explain_free(d->explain);
	*d = (struct ibcc_lab_daemon){ .service = NULL };
	return before - ibcc_lab_heap_mib();
}
