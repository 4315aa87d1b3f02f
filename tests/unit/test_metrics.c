/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text that a monitoring system gets, on the Lustre fabric. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/metrics/metrics.h"

#include "traffic.h"

#define ODD_NAME "a\"b\\c\nd\033[31m"

/* A cycle as it is after some passes; what a pass came to is filled in by the tests. */
struct fixture {
	struct traffic tr;
	struct ibcc_cycle c;
	struct ibcc_transport transport;
	struct ibcc_metrics_service service;
	struct ibcc_metrics_totals totals;
	struct ibcc_metrics_now now;
	struct ibcc_metrics *m;
	char *text;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ibcc_cycle *c;

	if (!f)
		return -1;
	c = &f->c;
	c->topo = fabric_lustre();
	c->transport = &f->transport;
	f->transport.stats = (struct ibcc_transport_stats){
		.sent = 100, .retried = 7, .answered = 90, .refused = 2, .timed_out = 3
	};
	traffic_init(&f->tr, c->topo);
	traffic_lustre_off(&f->tr);
	traffic_at(&f->tr, LUSTRE_SRC1, 1)->becn = 80;
	for (unsigned int pass = 0; pass < 3; pass++)
		traffic_pass(&f->tr);
	c->snapshot = f->tr.s; /* lent */
	assert_int_equal(ibcc_settings_init(&c->actual, c->topo), 0);
	f->service = (struct ibcc_metrics_service){ .via_plugin = true,
						    .plugin_connected = true,
						    .sm_state = "MASTER",
						    .state_file_ok = true,
						    .fabric_whole = true,
						    .owed_present = 2,
						    .owed_away = 5,
						    .owed_overwritten = 3,
						    .set_mads = 12 };
	f->now = (struct ibcc_metrics_now){ .state = "ok",
					    .last_reload_ok = true,
					    .last_pass_s = 1234567890 };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	memset(&f->c.snapshot, 0, sizeof(f->c.snapshot));
	ibcc_cycle_fini(&f->c);
	ibcc_snapshot_fini(&f->tr.s);
	ibcc_metrics_free(f->m);
	free(f->text);
	free(f);
	return 0;
}

static const char *text_of(struct fixture *f, const struct ibcc_metrics *m)
{
	size_t len = 0;
	char *text = ibcc_metrics_text(m, &f->now, &len);

	assert_non_null(text);
	free(f->text);
	f->text = calloc(1, len + 1);
	assert_non_null(f->text);
	memcpy(f->text, text, len);
	free(text);
	assert_int_equal(strlen(f->text), len);
	return f->text;
}

static const char *take(struct fixture *f)
{
	ibcc_metrics_free(f->m);
	f->m = ibcc_metrics_new(&f->c, &f->service, &f->totals);
	assert_non_null(f->m);
	return text_of(f, f->m);
}

/* Is it there as a line of its own? */
static bool has(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *s = text; (s = strstr(s, line)); s += len)
		if ((s == text || s[-1] == '\n') && s[len] == '\n')
			return true;
	return false;
}

#define assert_line(text, line)                                                                    \
	do {                                                                                       \
		if (!has(text, line))                                                              \
			fail_msg("no line '%s' in:\n%.20000s", line, text);                        \
	} while (0)

static void test_before_the_first_pass(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->now = (struct ibcc_metrics_now){ .state = "starting", .compat = true };
	text = text_of(f, NULL);
	assert_line(text, "ibcc_state{state=\"starting\"} 1");
	assert_line(text, "ibcc_state{state=\"ok\"} 0");
	assert_line(text, "ibcc_config_last_reload_successful 0");
	assert_line(text, "ibcc_last_pass_timestamp_seconds 0");
	assert_null(strstr(text, "ibcc_port"));
	f->now.state = NULL; /* no memory for the status: none of them */
	assert_line(text_of(f, NULL), "ibcc_state{state=\"starting\"} 0");
}

static void test_without_fabric(void **state)
{
	struct fixture *f = *state;
	const char *text;

	f->service.via_plugin = false;
	f->m = ibcc_metrics_new(NULL, &f->service, &f->totals);
	text = text_of(f, f->m);
	assert_line(text, "ibcc_mads_sent_total 0");
	assert_line(text, "ibcc_set_mads_total 12");
	assert_line(text, "ibcc_owed_endports{state=\"present\"} 2");
	assert_line(text, "ibcc_owed_endports{state=\"away\"} 5");
	assert_line(text, "ibcc_owed_endports{state=\"overwritten\"} 3");
	assert_null(strstr(text, "ibcc_nodes"));
	/* Where no plugin is configured there is none to miss. */
	assert_null(strstr(text, "ibcc_plugin_connected"));
}

static void test_service(void **state)
{
	struct fixture *f = *state;
	const char *text = take(f);

	assert_line(text, "ibcc_plugin_connected 1");
	assert_line(text, "ibcc_sm_own_congestion_control 0");
	assert_line(text, "ibcc_sm_state{state=\"MASTER\"} 1");
	assert_line(text, "ibcc_sm_state{state=\"STANDBY\"} 0");
	assert_line(text, "ibcc_mads_sent_total 100");
	assert_line(text, "ibcc_mads_timed_out_total 3");
	assert_line(text, "ibcc_last_pass_timestamp_seconds 1234567890");
	assert_line(text, "ibcc_nodes{type=\"switch\"} 2");
	assert_line(text, "ibcc_nodes{type=\"ca\"} 6");
	assert_line(text, "ibcc_ports{state=\"fresh\"} 14");
}

/* What waits for the first nodes of a roll-out is pending; a trial is told while there is one. */
static void test_seams(void **state)
{
	struct fixture *f = *state;
	const char *text = take(f);

	assert_line(text, "ibcc_writes_pending 0");
	assert_null(strstr(text, "ibcc_trial_seconds_left"));
	assert_null(strstr(text, "ibcc_leader"));
	f->c.rollout.n_left = 6;
	f->now.on_trial = f->now.elects = true;
	f->now.trial_s = 299;
	text = take(f);
	assert_line(text, "ibcc_writes_pending 6");
	assert_line(text, "ibcc_trial_seconds_left 299");
	assert_line(text, "ibcc_leader 0");
}

static void test_link_errors(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	uint32_t src = fabric_port(t, LUSTRE_SRC1, 1), sw = fabric_port(t, LUSTRE_SW1, 5);
	struct ibcc_link_errors *e = &f->c.snapshot.port[src].errors;
	const struct ibcc_link_caps edr = { 3, 0x6e };
	struct ibcc_root root = { .port = t->port[src].peer };
	const char *text = take(f);
	char line[256];

	assert_line(text, "ibcc_slow_links 0");
	assert_line(text, "ibcc_tree_faulty_links 0");
	assert_line(text, "ibcc_ports_with_link_errors 0");
	/* Never read: missing. */
	assert_null(strstr(text, "ibcc_port_symbol_error_total{"));
	e->t_ns = 2000000000;
	e->dt_ns = 1000000000;
	e->v[IBCC_LINK_ERROR_SYMBOL] = 4711;
	e->v[IBCC_LINK_ERROR_VL15] = 3;
	e->grown[IBCC_LINK_ERROR_SYMBOL] = 100;
	f->c.topo->port[sw].caps = f->c.topo->port[t->port[sw].peer].caps = edr;
	f->now.compat = true;
	text = take(f);
	assert_line(text, "ibcc_slow_links 1");
	assert_line(text, "ibcc_ports_with_link_errors 1");
	assert_line(text, "ibcc_tree_faulty_links 0");
	/* Congestion starts at the port that leads to the source; the slow link is elsewhere. */
	f->c.estimate = (struct ibcc_estimate){ .n_roots = 1, .root = &root };
	text = take(f);
	f->c.estimate = (struct ibcc_estimate){ 0 };
	assert_line(text, "ibcc_tree_faulty_links 1");
	snprintf(line, sizeof(line),
		 "ibcc_port_symbol_error_total{guid=\"0x%016" PRIx64 "\",port=\"1\"} 4711",
		 t->node[LUSTRE_SRC1].guid);
	assert_line(text, line);
	snprintf(line, sizeof(line),
		 "ibcc_port_vl15_dropped_total{guid=\"0x%016" PRIx64 "\",port=\"1\"} 3",
		 t->node[LUSTRE_SRC1].guid);
	assert_line(text, line);
	snprintf(line, sizeof(line),
		 "infiniband_hca_port_symbol_error_total{guid=\"0x%016" PRIx64
		 "\",port=\"1\"} 4711",
		 t->node[LUSTRE_SRC1].guid);
	assert_line(text, line);
	assert_null(strstr(text, "infiniband_switch_port_symbol_error_total{"));
}

/* Three passes: the first begins at zero, PortXmitData counts words of 4 bytes, a tick is 8 ns. */
static void test_counters(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	uint64_t guid = t->node[LUSTRE_SRC1].guid;
	const struct traffic_port *p = traffic_at(&f->tr, LUSTRE_SRC1, 1);
	uint64_t bytes = 3 * (p->mbps * (TRAFFIC_INTERVAL_NS / 1000) / 8 / 4 * 4);
	char line[256];
	const char *text = take(f);

	snprintf(line, sizeof(line),
		 "ibcc_port_transmit_data_bytes_total{guid=\"0x%016" PRIx64
		 "\",port=\"1\"} %" PRIu64,
		 guid, bytes);
	assert_line(text, line);
	/* 84.4 % of three milliseconds. */
	snprintf(line, sizeof(line),
		 "ibcc_port_transmit_wait_seconds_total{guid=\"0x%016" PRIx64
		 "\",port=\"1\"} 0.002532",
		 guid);
	assert_line(text, line);
	snprintf(line, sizeof(line),
		 "ibcc_port_becn_received_total{guid=\"0x%016" PRIx64 "\",port=\"1\"} 240", guid);
	assert_line(text, line);
	snprintf(line, sizeof(line),
		 "ibcc_port_rate_bytes_per_second{guid=\"0x%016" PRIx64 "\",port=\"1\"} %" PRIu64,
		 guid, (uint64_t)t->port[fabric_port(t, LUSTRE_SRC1, 1)].rate_mbps * 125000);
	assert_line(text, line);
}

static void test_what_was_never_read_is_not_told(void **state)
{
	struct fixture *f = *state;
	struct ibcc_port_sample *s = &f->c.snapshot.port[fabric_port(f->c.topo, LUSTRE_SRC1, 1)];
	char guid[64];

	snprintf(guid, sizeof(guid), "_total{guid=\"0x%016" PRIx64 "\"",
		 f->c.topo->node[LUSTRE_SRC1].guid);
	memset(s->now.width, 0, sizeof(s->now.width));
	assert_null(strstr(take(f), guid));
	memset(s->now.width, 64, sizeof(s->now.width));
	s->tick_ps = 0; /* the tick is not known, so no seconds */
	assert_non_null(strstr(take(f), guid));
	snprintf(guid, sizeof(guid), "wait_seconds_total{guid=\"0x%016" PRIx64 "\"",
		 f->c.topo->node[LUSTRE_SRC1].guid);
	assert_null(strstr(f->text, guid));
}

static void test_names_are_escaped(void **state)
{
	struct fixture *f = *state;
	char line[256];

	snprintf(f->c.topo->node[LUSTRE_SRC1].desc, IBCC_DESC_BYTES, "%s", ODD_NAME);
	snprintf(line, sizeof(line),
		 "ibcc_node_info{guid=\"0x%016" PRIx64
		 "\",node=\"a\\\"b\\\\c d?[31m\",type=\"ca\",lid=\"%u\"} 1",
		 f->c.topo->node[LUSTRE_SRC1].guid,
		 f->c.topo->port[fabric_port(f->c.topo, LUSTRE_SRC1, 1)].lid);
	assert_line(take(f), line);
}

/* The longest name, all of which has to be escaped. */
static void test_longest_name(void **state)
{
	struct fixture *f = *state;
	char *desc = f->c.topo->node[LUSTRE_SRC1].desc;
	unsigned int n = 0;
	const char *s;

	memset(desc, '"', IBCC_DESC_BYTES - 1);
	desc[IBCC_DESC_BYTES - 1] = '\0';
	s = strstr(take(f), "node=\"\\\"");
	assert_non_null(s);
	for (s += strlen("node=\""); s[0] == '\\' && s[1] == '"'; s += 2)
		n++;
	assert_int_equal(n, IBCC_DESC_BYTES - 1);
	assert_memory_equal(s, "\",type=", 7);
}

static void test_roots(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root root = { .port = fabric_port(f->c.topo, LUSTRE_SW2, 1),
				  .kind = IBCC_CONGESTION_OUTPUT,
				  .link_mbps = 32000,
				  .rate_mbps = 15000,
				  .wait_permille = 52,
				  .n_contributors = 3,
				  .n_victims = 1 };
	char line[256], where[160];

	f->c.estimate.root = &root;
	f->c.estimate.n_roots = 1;
	f->c.decided = true;
	take(f);
	f->c.estimate = (struct ibcc_estimate){ 0 };
	f->c.decided = false;
	assert_true(f->m->decided);
	snprintf(where, sizeof(where),
		 "{guid=\"0x%016" PRIx64 "\",port=\"1\",node=\"%s\",kind=\"output\"}",
		 f->c.topo->node[LUSTRE_SW2].guid, f->c.topo->node[LUSTRE_SW2].desc);
	assert_line(f->text, "ibcc_roots 1");
	snprintf(line, sizeof(line), "ibcc_root_rate_bytes_per_second%s 1875000000", where);
	assert_line(f->text, line);
	snprintf(line, sizeof(line), "ibcc_root_wait_ratio%s 0.052", where);
	assert_line(f->text, line);
	snprintf(line, sizeof(line), "ibcc_root_contributors%s 3", where);
	assert_line(f->text, line);
}

static void test_settings(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	uint32_t ca = t->port[fabric_port(t, LUSTRE_SRC1, 1)].endport;
	uint32_t sw = ibcc_topo_switch_endport(t, fabric_port(t, LUSTRE_SW2, 1));
	struct ibcc_endport_cc *ep = &f->c.actual.ep[ca];
	char line[256];

	assert_null(strstr(take(f), "ibcc_port_ccti_timer_seconds{"));
	ep->ca.sl[3] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = 27, .CCTI_Increase = 2 };
	ep->ca.sl[4] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = 26, .CCTI_Increase = 1 };
	ep->cct.limit = 63;
	ep->cct.entry[63] = 0x4010;
	f->c.actual.ep[sw].sw.Threshold = 12;
	f->c.actual.ep[sw].info.ControlTableCap = 0;
	ibcc_cc_mask_assign(&f->c.actual.ep[sw].sw.Victim_Mask, 1, true);
	f->c.actual.ep[sw].sw.Control_Map = 0xf;
	take(f);
	snprintf(line, sizeof(line), "{guid=\"0x%016" PRIx64 "\",port=\"1\"} 0.000027648",
		 t->node[LUSTRE_SRC1].guid);
	assert_non_null(strstr(f->text, line));
	snprintf(line, sizeof(line),
		 "ibcc_port_ccti_increase{guid=\"0x%016" PRIx64 "\",port=\"1\"} 2",
		 t->node[LUSTRE_SRC1].guid);
	assert_line(f->text, line);
	snprintf(line, sizeof(line),
		 "ibcc_port_ccti_limit{guid=\"0x%016" PRIx64 "\",port=\"1\"} 63",
		 t->node[LUSTRE_SRC1].guid);
	assert_line(f->text, line);
	assert_int_equal(ibcc_settings_port_marks(&f->c.actual.ep[sw], 1),
			 strstr(f->text, "ibcc_port_marking_threshold{") != NULL);
}

static void test_compat(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	const struct ibcc_topo_node *sw1 = &t->node[LUSTRE_SW1], *src = &t->node[LUSTRE_SRC1];
	char line[512];

	assert_null(strstr(take(f), "infiniband_"));
	f->now.compat = true;
	take(f);
	snprintf(line, sizeof(line),
		 "infiniband_switch_uplink_info{guid=\"0x%016" PRIx64
		 "\",port=\"1\",switch=\"%s\",uplink=\"%s\",uplink_guid=\"0x%016" PRIx64
		 "\",uplink_type=\"CA\",uplink_port=\"1\",uplink_lid=\"%u\"} 1",
		 sw1->guid, sw1->desc, src->desc, src->guid,
		 t->port[fabric_port(t, LUSTRE_SRC1, 1)].lid);
	assert_line(f->text, line);
	snprintf(line, sizeof(line),
		 "infiniband_hca_port_transmit_wait_total{guid=\"0x%016" PRIx64
		 "\",port=\"1\"} %" PRIu64,
		 src->guid,
		 f->c.snapshot.port[fabric_port(t, LUSTRE_SRC1, 1)].now.v[IBCC_CTR_XMIT_WAIT]);
	assert_line(f->text, line);
}

/* The format wants each family once, its lines together behind their HELP and TYPE. */
static void test_families(void **state)
{
	struct fixture *f = *state;
	char *seen[128], *line, *save = NULL, name[128] = "";
	unsigned int n = 0;

	f->now.compat = true;
	take(f);
	for (line = strtok_r(f->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t len = strcspn(line, "{ ");

		if (strncmp(line, "# HELP ", 7)) {
			if (line[0] == '#')
				line += 7, len = strcspn(line, " ");
			assert_true(len < sizeof(name) && !strncmp(line, name, len) && !name[len]);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + 7, " "), line + 7);
		for (unsigned int i = 0; i < n; i++)
			assert_string_not_equal(seen[i], name);
		assert_true(n < 128);
		seen[n++] = strdup(name);
	}
	assert_true(n > 40);
	while (n)
		free(seen[--n]);
}

static void test_totals(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cycle c = { 0 };
	struct ibcc_metrics_totals t = { 0 };

	(void)f;
	ibcc_metrics_count(&t, NULL, -ENODEV);
	ibcc_metrics_count(&t, &c, 0); /* the first pass: nothing to decide */
	c.decided = true;
	ibcc_metrics_count(&t, &c, 0);
	c.plan.n = 5;
	ibcc_metrics_count(&t, &c, 0); /* an observer */
	c.acted = true;
	c.result.n_verified = 5;
	ibcc_metrics_count(&t, &c, 0);
	c.result.n_verified = 3;
	c.result.n_failed = 2;
	c.act_err = -EIO;
	ibcc_metrics_count(&t, &c, 0);
	assert_int_equal(t.passes, 6);
	assert_int_equal(t.failed_passes, 1);
	for (unsigned int i = 0; i < IBCC_METRICS_ACTIONS; i++)
		assert_int_equal(t.decisions[i], 1);
	assert_int_equal(t.verified, 8);
	assert_int_equal(t.unverified, 2);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

/* The jobs with the largest shares have lines of their own. Their numbers are escaped. */
static void test_jobs(void **state)
{
	struct fixture *f = *state;
	struct ibcc_metrics_jobs *j = &f->service.jobs;
	const char *text;

	f->m = ibcc_metrics_new(NULL, &f->service, &f->totals);
	text = text_of(f, f->m);
	assert_null(strstr(text, "ibcc_job"));
	*j = (struct ibcc_metrics_jobs){ .known = true,
					 .n = 2,
					 .running = 7,
					 .unmatched = 3,
					 .age_s = 12,
					 .others = { .share_permille = 5, .blocked = 4 },
					 .shared_permille = 1250,
					 .nobody_permille = 0 };
	j->job[0] = (struct ibcc_metrics_job){ .id = "4711", .share_permille = 745 };
	j->job[1] = (struct ibcc_metrics_job){ .id = "a\"b\\c", .blocked = 9 };
	ibcc_metrics_free(f->m);
	f->m = ibcc_metrics_new(NULL, &f->service, &f->totals);
	text = text_of(f, f->m);
	assert_line(text, "ibcc_job_map_age_seconds 12");
	assert_line(text, "ibcc_jobs_running 7");
	assert_line(text, "ibcc_job_hosts_unmatched 3");
	assert_line(text, "ibcc_job_congestion_share{job=\"4711\"} 0.745");
	assert_line(text, "ibcc_job_congestion_share{job=\"a\\\"b\\\\c\"} 0.000");
	assert_line(text, "ibcc_job_congestion_share{part=\"other_jobs\"} 0.005");
	assert_line(text, "ibcc_job_congestion_share{part=\"shared_hosts\"} 1.250");
	assert_line(text, "ibcc_job_congestion_share{part=\"no_job\"} 0.000");
	assert_line(text, "ibcc_job_blocked_adapters{job=\"4711\"} 0");
	assert_line(text, "ibcc_job_blocked_adapters{job=\"a\\\"b\\\\c\"} 9");
	assert_line(text, "ibcc_job_blocked_adapters{part=\"other_jobs\"} 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_before_the_first_pass),
		TEST(test_without_fabric),
		TEST(test_service),
		TEST(test_jobs),
		TEST(test_seams),
		TEST(test_link_errors),
		TEST(test_counters),
		TEST(test_what_was_never_read_is_not_told),
		TEST(test_names_are_escaped),
		TEST(test_longest_name),
		TEST(test_roots),
		TEST(test_settings),
		TEST(test_compat),
		TEST(test_families),
		TEST(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
