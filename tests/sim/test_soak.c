/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's service for hours of virtual time, 200 ms between passes, over real MADs to the
 * agents of a packet engine, with its state file and its log: roots move, cables come loose, and
 * its memory, its descriptors and its history stay what they were when it was warm; nothing is
 * warned of that is not so, as nothing ever fails here; and at the end books and fabric agree and a
 * rollback brings back the registers from before.
 *
 * IBCC_SOAK_MINUTES: of virtual time (3; `make check-soak`: 60). IBCC_SEED: of what happens.
 */
#include "services.h"

#include <dirent.h>

#include <ibcc/log.h>
#include <ibcc/rng.h>

#include "daemon/explain.h"

#include "tests/unit/heap.h"

#define INTERVAL_MS    200u
#define PASSES_A_MIN   (60000u / INTERVAL_MS)
#define MOVE_PASSES    125u /* a root stays for so long, */
#define FLAP_PASSES    210u /* a cable comes loose so often, */
#define LOOSE_PASSES   20u  /* and stays so for so long */
#define PRUNE_PASSES   PASSES_A_MIN
#define SLOW_MBPS      150u
#define HISTORY_MB     1u
#define SLACK_BYTES    (1u << 20) /* as much as the pages that the data base keeps at hand */
#define FILE_SLACK     (1u << 20) /* a minute's transactions */
#define LEAST_FOR_ROOT 20u        /* passes with a root, of 100 */

/* Slow links, so that an hour has no more packets than a test can wait for. */
static const char scenario[] =
	"name: soak\n"
	"title: all to all, with servers that become slow\n"
	"duration_ms: 100\n"
	"topology: {rate: 1x SDR, mtu_bytes: 4096, tree: {ports: 4, levels: 2}}\n"
	"model: {packet_bytes: 4096}\n"
	"traffic:\n"
	"  - {name: all, from: all, to: all, kind: background, load_percent: 12}\n";

/* How much there is of what must not grow. */
struct use {
	size_t heap_bytes, rss_bytes;
	unsigned int n_fds;
	uint64_t file_bytes;
};

struct soak {
	struct loop l;
	struct ibcc_service *s;
	struct ibcc_explain *x;
	struct ibcc_topo *up; /* with all its cables */
	uint64_t rng;
	uint32_t host[64], n_hosts;
	uint32_t slow, loose; /* ports; IBCC_NONE: none is */
	uint64_t generation;
	struct ibcc_settings before;
	uint32_t n_roots, n_acted; /* passes with a root, and that wrote */
	struct use warm, late;     /* most in the second and in the last quarter */
};

static int stderr_fd = -1; /* the one that was there */

static size_t rss_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A sanitizer keeps books of its own, and what was freed: its heap is counted exactly. */
static size_t rss_slack(void)
{
	return __sanitizer_get_current_allocated_bytes ? 16u << 20 : SLACK_BYTES;
}

static unsigned int n_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static uint64_t size_of(const char *name)
{
	struct stat st;

	return stat(files_path(name), &st) ? 0 : (uint64_t)st.st_size;
}

static void note(struct use *u)
{
	size_t heap = heap_bytes(), rss = rss_bytes();
	uint64_t file = size_of("state.db");
	unsigned int fds = n_fds();

	u->heap_bytes = heap > u->heap_bytes ? heap : u->heap_bytes;
	u->rss_bytes = rss > u->rss_bytes ? rss : u->rss_bytes;
	u->file_bytes = file > u->file_bytes ? file : u->file_bytes;
	u->n_fds = fds > u->n_fds ? fds : u->n_fds;
}

static void start_service(struct soak *x)
{
	struct ibcc_config c;

	services_config(&c);
	c.interval_ms = INTERVAL_MS;
	c.history_mb = HISTORY_MB;
	c.bounds.sets_per_minute = 300; /* there are five times as many passes as by default */
	x->s = services_open(&x->l, &c);
	x->x = ibcc_explain_new();
	assert_non_null(x->x);
}

/* What a discovery finds now. */
static void discover(struct soak *x)
{
	struct ibcc_topo *t = ibcc_topo_clone(x->up);

	assert_non_null(t);
	t->generation = ++x->generation;
	if (x->loose != IBCC_NONE) {
		ibcc_topo_unlink(t, x->loose);
		t->port[x->loose].lid = 0;
	}
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, t), 0);
}

static uint32_t any_host(struct soak *x)
{
	return x->host[ibcc_rng_below(&x->rng, x->n_hosts)];
}

static void set_cable(struct soak *x, uint32_t port, bool up)
{
	assert_int_equal(ibcc_engine_set_link(x->l.engine, port, up), 0);
	x->loose = up ? IBCC_NONE : port;
	discover(x);
}

/* A root goes, and another one comes, or none for a while. */
static void move(struct soak *x)
{
	if (x->slow != IBCC_NONE)
		assert_int_equal(ibcc_engine_set_sink_rate(x->l.engine, x->slow, 0), 0);
	x->slow = ibcc_rng_below(&x->rng, 4) ? any_host(x) : IBCC_NONE;
	if (x->slow != IBCC_NONE)
		assert_int_equal(ibcc_engine_set_sink_rate(x->l.engine, x->slow, SLOW_MBPS), 0);
}

static void happen(struct soak *x, uint32_t pass)
{
	if (pass % MOVE_PASSES == 10)
		move(x);
	if (pass % FLAP_PASSES == FLAP_PASSES - LOOSE_PASSES)
		set_cable(x, any_host(x), false);
	else if (pass % FLAP_PASSES == 0 && x->loose != IBCC_NONE)
		set_cable(x, x->loose, true);

	if (pass % PRUNE_PASSES == 0)
		x->s->pruned_ns = 0;
}

static void one_pass(struct soak *x)
{
	struct ibcc_why why = { "" };
	json_t *status;
	int rc;

	rc = services_pass(&x->l, x->s, INTERVAL_MS * IBCC_PS_PER_MS, &why);
	if (rc)
		fail_msg("%d: %s", rc, why.text);
	ibcc_explain_pass(x->x, x->s, rc, &why);
	x->n_roots += x->s->cycle.estimate.n_roots > 0;
	x->n_acted += x->s->cycle.acted;
	status = ibcc_service_status(x->s);
	assert_string_not_equal(json_string_value(json_object_get(status, "state")), "degraded");
	json_decref(status);
}

static void start(struct soak *x)
{
	const char *seed = getenv("IBCC_SEED");

	*x = (struct soak){ .slow = IBCC_NONE, .loose = IBCC_NONE };
	x->rng = seed ? strtoull(seed, NULL, 0) : 1;
	loop_open(&x->l, files_write("soak.yaml", scenario), &loop_hardware, NULL);
	x->up = x->l.sc.topo;
	for (uint32_t i = 0; i < x->up->n_nodes; i++)
		if (!ibcc_topo_is_switch(x->up, i))
			x->host[x->n_hosts++] = x->up->node[i].first_port + 1;
	start_service(x);
	discover(x);
	assert_int_equal(ibcc_cycle_readback(&x->s->cycle, &x->l.why), 0);
	assert_int_equal(ibcc_settings_copy(&x->before, &x->s->cycle.actual), 0);
}

static void run(struct soak *x, uint32_t n)
{
	for (uint32_t pass = 1; pass <= n; pass++) {
		happen(x, pass);
		one_pass(x);
		if (pass % 50 == 0 && pass > n / 4 && pass <= n / 2)
			note(&x->warm);
		else if (pass % 50 == 0 && pass > n - n / 4)
			note(&x->late);
	}
	print_message("%u passes, %u with a root, %u that wrote\n", n, x->n_roots, x->n_acted);
	print_message("heap %zu -> %zu KiB, resident %zu -> %zu KiB, %u -> %u descriptors, "
		      "history %llu -> %llu KiB\n",
		      x->warm.heap_bytes >> 10, x->late.heap_bytes >> 10, x->warm.rss_bytes >> 10,
		      x->late.rss_bytes >> 10, x->warm.n_fds, x->late.n_fds,
		      (unsigned long long)x->warm.file_bytes >> 10,
		      (unsigned long long)x->late.file_bytes >> 10);
}

static void assert_bounded(const struct soak *x, uint32_t n)
{
	assert_true(x->n_roots > n / 100 * LEAST_FOR_ROOT);
	assert_true(x->n_acted > n / 100);
	assert_true(x->late.heap_bytes <=
		    x->warm.heap_bytes + x->warm.heap_bytes / 20 + SLACK_BYTES);
	assert_true(x->late.rss_bytes <= x->warm.rss_bytes + x->warm.rss_bytes / 20 + rss_slack());
	assert_int_equal(x->late.n_fds, x->warm.n_fds);
	assert_true(x->late.file_bytes <= (HISTORY_MB << 20) + FILE_SLACK);
}

static void end(struct soak *x)
{
	struct ibcc_request r = { .who = "test" };
	struct ibcc_why why = { "" };
	json_t *out = NULL;

	if (x->loose != IBCC_NONE)
		set_cable(x, x->loose, true);
	one_pass(x);
	assert_int_equal(x->s->cycle.audit.drift.n, 0);
	if (ibcc_service_rollback(x->s, 0, &r, &out, &why))
		fail_msg("%s", why.text);
	json_decref(out);
	assert_int_equal(ibcc_cycle_readback(&x->s->cycle, &why), 0);
	loop_assert_same(&x->before, &x->s->cycle.actual);
	ibcc_settings_fini(&x->before);
	services_close(&x->l, x->s);
	ibcc_explain_free(x->x);
}

static void test_soak(void **state)
{
	const char *minutes = getenv("IBCC_SOAK_MINUTES"), *log = files_path("soak.log");
	uint32_t n = PASSES_A_MIN * (minutes ? (uint32_t)strtoul(minutes, NULL, 0) : 3);
	struct soak x;

	(void)state;
	stderr_fd = dup(STDERR_FILENO);
	assert_true(n > 0 && stderr_fd >= 0);
	assert_non_null(freopen(log, "a", stderr));
	ibcc_log_open("soak", IBCC_LOG_STDERR, NULL, LOG_WARNING);
	start(&x);
	run(&x, n);
	end(&x);
	loop_end(&x.l);
	assert_bounded(&x, n);
	assert_int_equal(size_of("soak.log"), 0);
}

/* What was warned of, and what cmocka has to say, wherever the test came to its end. */
static int show_log(void **state)
{
	char *said = files_read(files_path("soak.log"));

	(void)state;
	if (dup2(stderr_fd, STDERR_FILENO) < 0)
		return -1;
	close(stderr_fd);
	fputs(said, stderr);
	free(said);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(test_soak, show_log) };

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
