/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the metrics say about the service: mode, plugin, subnet manager, state file, settings that
 * still have to be reverted.
 */
#include "daemon/service/service_impl.h"
#include <ibcc/plugin_client.h>

#include <ibcc/state.h>

void ibcc_service_metrics(const struct ibcc_service *s, struct ibcc_metrics_service *out)
{
	const struct ibcc_proto_state *p = ibcc_plugin_state(s->plugin);

	*out = (struct ibcc_metrics_service){
		.apply = s->config.mode == IBCC_MODE_APPLY,
		.paused = s->paused != NULL,
		.via_plugin = s->config.apply_via == IBCC_VIA_PLUGIN,
		.plugin_connected = p && !s->plugin_silent,
		.sm_state = p ? ibcc_proto_sm_state_name(p->sm_state) : NULL,
		.own_cc = p && p->own_cc,
		.state_file_ok = s->state && !ibcc_state_trouble(s->state),
		.fabric_whole = !s->discovery.text.text[0],
		.set_mads = s->set_mads,
	};
	ibcc_service_jobs_metrics(s, &out->jobs);
	out->owed_present = ibcc_service_count_debts(s, IBCC_DEBT_PRESENT);
	out->owed_away = ibcc_service_count_debts(s, IBCC_DEBT_AWAY);
	out->owed_overwritten = ibcc_service_count_debts(s, IBCC_DEBT_OVERWRITTEN);
}
