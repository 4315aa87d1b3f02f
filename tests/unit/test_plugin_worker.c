/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The whole plugin by the face that OpenSM sees, in an OpenSM made by hand. No umad port is there,
 * so plans that pass all checks end at that; tests/system/test_plugin_push.sh goes further.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_osm.h"

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_version.h>

#include <ibcc/ccmad.h>
#include <ibcc/proto.h>

extern osm_event_plugin_t osm_event_plugin;

static char dir[64], options[160], log_file[96];
static osm_opensm_t *osm;
static osm_node_t *sw, *ca;
static void *plugin;
static uint8_t buf[IBCC_PROTO_MAX_BYTES];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ibcc-plugin.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(options, sizeof(options), "other ibcc.socket=%s/sock", dir);
	snprintf(log_file, sizeof(log_file), "%s/log", dir);
	osm = fake_osm_new();
	osm_log_construct(&osm->log);
	assert_int_equal(osm_log_init_v2(&osm->log, TRUE, OSM_LOG_ALL, log_file, 0, FALSE),
			 IB_SUCCESS);
	osm->subn.opt.event_plugin_options = options;
	osm->subn.sm_state = IB_SMINFO_STATE_DISCOVERING;
	osm->subn.sm_port_guid = cl_hton64(0xdeadbeef);
	sw = fake_osm_node(osm, 1, IB_NODE_TYPE_SWITCH, 2, "sw");
	ca = fake_osm_node(osm, 2, IB_NODE_TYPE_CA, 1, "ca");
	fake_osm_port(ca, 1, 3);
	fake_osm_lid(sw, 0, 1);
	fake_osm_lid(ca, 1, 2);
	fake_osm_link(sw, 1, ca, 1);
	sw->sw->lft[2] = 1;
	plugin = osm_event_plugin.create(osm);
	assert_non_null(plugin);
	return 0;
}

static int teardown(void **state)
{
	char path[96];

	(void)state;
	if (plugin)
		osm_event_plugin.delete(plugin);
	osm_log_destroy(&osm->log);
	fake_osm_free(osm);
	snprintf(path, sizeof(path), "%s/sock", dir);
	assert_int_equal(access(path, F_OK), -1);
	unlink(log_file);
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void report(osm_epi_event_id_t event)
{
	osm_event_plugin.report(plugin, event, NULL);
}

static bool logged(const char *text)
{
	static char all[65536];
	FILE *f = fopen(log_file, "r");
	size_t n;

	assert_non_null(f);
	n = fread(all, 1, sizeof(all) - 1, f);
	fclose(f);
	all[n] = '\0';
	return strstr(all, text);
}

static uint16_t hear(int fd, void *payload, size_t size)
{
	struct ibcc_proto_header h;
	const void *p;

	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &p), 0);
	memcpy(payload, p, h.length < size ? h.length : size);
	return h.type;
}

static int dial(struct ibcc_proto_state *welcome)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", dir);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		/* The service thread opens it. */
		assert_true(errno == ENOENT);
		usleep(1000);
	}
	assert_int_equal(ibcc_proto_send(fd, IBCC_PROTO_HELLO, 1, NULL, 0), 0);
	assert_int_equal(hear(fd, welcome, sizeof(*welcome)), IBCC_PROTO_WELCOME);
	return fd;
}

static struct ibcc_proto_state hear_state(int fd)
{
	struct ibcc_proto_state s;

	assert_int_equal(hear(fd, &s, sizeof(s)), IBCC_PROTO_STATE);
	return s;
}

/* A client, after the first sweep as a master. */
static int dial_master(struct ibcc_proto_state *s)
{
	int fd = dial(s);

	osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	report(OSM_EVENT_ID_SUBNET_UP);
	while (s->sm_state != IBCC_SM_MASTER || !s->generation)
		*s = hear_state(fd);
	return fd;
}

static struct ibcc_proto_error push(int fd, uint64_t generation, uint64_t guid, uint16_t lid)
{
	struct ibcc_proto_plan plan = { .generation = generation, .n_changes = 1 };
	struct ibcc_change c = {
		.node_guid = guid, .lid = lid, .port = 1, .attr_id = IBCC_CC_ATTR_CA_SETTING
	};
	uint8_t wire[2048];
	struct ibcc_proto_error end;
	uint16_t type;

	assert_int_equal(ibcc_proto_send(fd, IBCC_PROTO_PLAN_BEGIN, 2, &plan, sizeof(plan)), 0);
	assert_int_equal(
		ibcc_proto_send(fd, IBCC_PROTO_CHANGE, 2, wire, ibcc_proto_change_encode(&c, wire)),
		0);
	assert_int_equal(ibcc_proto_send(fd, IBCC_PROTO_PLAN_COMMIT, 2, NULL, 0), 0);
	while ((type = hear(fd, &end, sizeof(end))) == IBCC_PROTO_STATE)
		;
	assert_int_equal(type, IBCC_PROTO_PLAN_END);
	return end;
}

static void test_interface(void **state)
{
	(void)state;
	assert_string_equal(osm_event_plugin.osm_version, OSM_VERSION);
}

static void test_generation(void **state)
{
	struct ibcc_proto_state s, next;
	int fd;

	(void)state;
	fd = dial(&s);
	assert_int_equal(s.sm_state, IBCC_SM_DISCOVERING);
	assert_int_equal(s.generation, 0);
	assert_int_equal(s.port_guid, 0xdeadbeef);
	close(fd);
	fd = dial_master(&s);
	assert_true(s.generation > 0);
	assert_int_equal(s.n_nodes, 2);

	/* Nothing new, then a new table: one generation further, not two. */
	report(OSM_EVENT_ID_SUBNET_UP);
	usleep(200000);
	cl_plock_excl_acquire(&osm->lock);
	sw->sw->lft[2] = 2;
	/* As OpenSM does: with its lock held. */
	report(OSM_EVENT_ID_LFT_CHANGE);
	cl_plock_release(&osm->lock);
	next = hear_state(fd);
	assert_int_equal(next.generation, s.generation + 1);
	close(fd);
}

static void trap(uint16_t num)
{
	ib_mad_notice_attr_t n = { .generic_type = 0x80 | IB_NOTICE_TYPE_INFO };

	n.g_or_v.generic.trap_num = cl_hton16(num);
	osm_event_plugin.report(plugin, OSM_EVENT_ID_TRAP, &n);
}

/* What a trap led OpenSM to read again is read a moment later, event or none; traps of multicast
 * groups are nothing to us.
 */
static void test_trap(void **state)
{
	struct ibcc_proto_state s, next;
	struct pollfd pfd = { .events = POLLIN };

	(void)state;
	pfd.fd = dial_master(&s);
	cl_plock_excl_acquire(&osm->lock);
	trap(144);
	sw->sw->lft[2] = sw->sw->lft[2] == 2 ? 1 : 2;
	cl_plock_release(&osm->lock);
	next = hear_state(pfd.fd);
	assert_int_equal(next.generation, s.generation + 1);
	cl_plock_excl_acquire(&osm->lock);
	trap(66);
	report(OSM_EVENT_ID_TRAP); /* without a notice */
	sw->sw->lft[2] = sw->sw->lft[2] == 2 ? 1 : 2;
	cl_plock_release(&osm->lock);
	assert_int_equal(poll(&pfd, 1, 3000), 0);
	report(OSM_EVENT_ID_LFT_CHANGE);
	assert_int_equal(hear_state(pfd.fd).generation, s.generation + 2);
	close(pfd.fd);
}

/* A table that changes between two looks: what a plan is judged by is always the newest. */
static void test_plan_meets_change(void **state)
{
	struct ibcc_proto_state s;
	int fd;

	(void)state;
	fd = dial_master(&s);
	/* Often, as the plan must also meet the worker between two looks at the events. */
	for (uint16_t i = 0; i < 200; i++) {
		cl_plock_excl_acquire(&osm->lock);
		fake_osm_lid(ca, 1, 7 + i);
		report(OSM_EVENT_ID_LFT_CHANGE);
		cl_plock_release(&osm->lock);
		assert_int_equal(push(fd, s.generation + i, 2, i ? 6 + i : 2).refusal,
				 IBCC_REFUSAL_STALE);
	}
	close(fd);
}

static void test_refusals(void **state)
{
	struct ibcc_proto_state s, standby;
	int fd;

	(void)state;
	fd = dial_master(&s);
	assert_int_equal(push(fd, s.generation, 2, 1).refusal, IBCC_REFUSAL_STALE);
	assert_int_equal(push(fd, s.generation, 1, 2).refusal, IBCC_REFUSAL_STALE);
	assert_int_equal(push(fd, s.generation, 2, 77).refusal, IBCC_REFUSAL_STALE);
	assert_int_equal(push(fd, s.generation - 1, 2, 2).refusal, IBCC_REFUSAL_STALE);
	osm->subn.opt.congestion_control = TRUE;
	assert_int_equal(push(fd, s.generation, 2, 2).refusal, IBCC_REFUSAL_TWO_WRITERS);
	osm->subn.opt.congestion_control = FALSE;
	/* All is well but the port, which no node has. */
	assert_int_equal(push(fd, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	/* MASTER to STANDBY has no event. */
	osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	do {
		standby = hear_state(fd);
	} while (standby.sm_state != IBCC_SM_STANDBY);
	assert_int_equal(standby.generation, s.generation);
	assert_int_equal(push(fd, s.generation, 2, 2).refusal, IBCC_REFUSAL_NOT_MASTER);
	close(fd);
	assert_true(logged("ibcc_opensm: ERR IC07"));
	assert_true(logged("ibcc_opensm: ERR IC08: plan ended early: no port for MADs"));
}

/* One whose process was stopped may have a plan at hand from before another one wrote. */
static void test_behind(void **state)
{
	struct ibcc_proto_state s;
	struct ibcc_proto_error end;
	const struct ibcc_proto_alive short_lease = { .lease_ms = 1 };
	int before, other, writer;

	(void)state;
	before = dial_master(&s);
	assert_int_equal(
		ibcc_proto_send(before, IBCC_PROTO_STATE_GET, 1, &short_lease, sizeof(short_lease)),
		0);
	assert_int_equal(push(before, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	/* One that only looks on has nothing at hand that may be old. */
	other = dial(&s);
	nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000000 }, NULL);
	writer = dial(&s);
	assert_int_equal(push(writer, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	close(writer);
	assert_int_equal(push(other, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	close(other);
	end = push(before, s.generation, 2, 2);
	assert_int_equal(end.refusal, IBCC_REFUSAL_BUSY);
	assert_non_null(strstr(end.text, "another client has written since"));
	/* Then it has read everything anew. */
	assert_int_equal(push(before, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	close(before);
	/* One that comes later knows of nothing older. */
	writer = dial(&s);
	assert_int_equal(push(writer, s.generation, 2, 2).refusal, IBCC_REFUSAL_NO_PORT);
	close(writer);
}

static void test_end_with_clients(void **state)
{
	struct ibcc_proto_state s;
	struct ibcc_proto_header h;
	const void *payload;
	sigset_t mask;
	int fd[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		fd[i] = dial(&s);
	assert_int_equal(ibcc_proto_send(fd[1], IBCC_PROTO_TOPO_GET, 2, NULL, 0), 0);
	/* Only its own threads are deaf to signals. */
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_false(sigismember(&mask, SIGTERM) || sigismember(&mask, SIGHUP));
	osm_event_plugin.delete(plugin);
	plugin = NULL;
	for (int i = 0; i < 3; i++) {
		int ret;

		do {
			ret = ibcc_proto_recv(fd[i], buf, &h, &payload);
		} while (!ret);
		assert_int_equal(ret, -ENODATA);
		close(fd[i]);
	}
}

static void test_bad_options(void **state)
{
	(void)state;
	osm->subn.opt.event_plugin_options = (char *)(uintptr_t) "ibcc.socket=here";
	assert_null(osm_event_plugin.create(osm));
	assert_true(logged("ibcc_opensm: ERR IC02"));
}

#define BOTH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interface), BOTH(test_generation),  BOTH(test_trap),
		BOTH(test_plan_meets_change),     BOTH(test_refusals),    BOTH(test_behind),
		BOTH(test_end_with_clients),      BOTH(test_bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
