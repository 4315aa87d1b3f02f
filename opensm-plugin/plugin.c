/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The functions that OpenSM calls. It loads the plugin with event_plugin_name ibcc_opensm in
 * opensm.conf. report() runs in OpenSM's threads, for some events with OpenSM's locks held. So it
 * only sets a flag for the service thread (worker.c).
 */

/* Before all other OpenSM headers: the layout of their structures depends on it. */
#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#include <ibcc/notice.h>
#include <ibcc/version.h>

#include "opensm-plugin/options.h"
#include "opensm-plugin/worker.h"

#if OSM_EVENT_PLUGIN_INTERFACE_VER != 2
#error "this OpenSM has another plugin interface than version 2"
#endif

static void write_log(void *arg, enum ibcc_plugin_level level, const char *line)
{
	osm_log_level_t osm_level = OSM_LOG_ERROR;

	switch (level) {
	case IBCC_PLUGIN_ERROR: break;
	case IBCC_PLUGIN_INFO: osm_level = OSM_LOG_INFO; break;
	case IBCC_PLUGIN_VERBOSE: osm_level = OSM_LOG_VERBOSE; break;
	case IBCC_PLUGIN_DEBUG: osm_level = OSM_LOG_DEBUG; break;
	}
	osm_log(arg, osm_level, "ibcc_opensm: %s\n", line);
}

/* Starts the plugin. If it returns NULL, OpenSM goes on without the plugin. */
static void *create(struct osm_opensm *osm)
{
	struct ibcc_plugin_log log = { .write = write_log, .arg = &osm->log };
	struct ibcc_plugin_options options;
	struct ibcc_plugin_worker *w;

	if (ibcc_plugin_options_parse(osm->subn.opt.event_plugin_options, &options, &log))
		return NULL;
	w = ibcc_plugin_worker_new(osm, &options, &log);
	if (w)
		ibcc_plugin_log(&log, IBCC_PLUGIN_INFO, "version %s loaded, built for %s",
				IBCC_VERSION, OSM_VERSION);
	return w;
}

static void delete (void *plugin_data)
{
	ibcc_plugin_worker_free(plugin_data);
}

/* Does a trap mean that the topology may have changed? */
static bool is_about_topology(const ib_mad_notice_attr_t *n)
{
	if (!n || !ib_notice_is_generic(n))
		return false;
	switch (cl_ntoh16(n->g_or_v.generic.trap_num)) {
	case IBCC_TRAP_IN_SERVICE:
	case IBCC_TRAP_OUT_OF_SERVICE:
	case IBCC_TRAP_LINK_STATE:
	case IBCC_TRAP_LOCAL_CHANGES: return true;
	}
	return false;
}

static void report(void *plugin_data, osm_epi_event_id_t event, void *event_data)
{
	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		ibcc_plugin_worker_report(plugin_data, IBCC_WORKER_SWEEP_BEGAN);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
	case OSM_EVENT_ID_STATE_CHANGE:
		ibcc_plugin_worker_report(plugin_data, IBCC_WORKER_SETTLED);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
	case OSM_EVENT_ID_LFT_CHANGE:
		ibcc_plugin_worker_report(plugin_data, IBCC_WORKER_CHANGED);
		break;
	case OSM_EVENT_ID_TRAP:
		if (is_about_topology(event_data))
			ibcc_plugin_worker_report(plugin_data, IBCC_WORKER_TRAP);
		break;
	case OSM_EVENT_ID_PORT_ERRORS:
	case OSM_EVENT_ID_PORT_DATA_COUNTERS:
	case OSM_EVENT_ID_PORT_SELECT:
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
	case OSM_EVENT_ID_SA_DB_DUMPED:
	case OSM_EVENT_ID_MAX: break;
	}
}

/* OpenSM finds the plugin by this symbol. OpenSM accepts it only if the version is exactly its own,
 * because the structures that fabric.c reads change between releases.
 */
__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
