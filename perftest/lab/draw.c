/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two levels of switches with any number of hosts, uplinks and speeds; uniform background or pairs;
 * none to three hotspots of either kind, degree, severity, onset and end. Sources never have more
 * to send than their links carry: what is lost is then lost in the fabric.
 */
#include "perftest/lab/draw.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibcc/measure.h>
#include <ibcc/rng.h>
#include <ibcc/scenario_file.h>

#define MAX_HOSTS    36u
#define MAX_SPOTS    3u
#define SOURCE_SHARE 0.9 /* of a source's link that may be used */
/* Packets that a flow to a hotspot keeps at its source. Other flows keep all packets: in a queue
 * for several receivers, packets that wait for one receiver would take the place of packets to the
 * others.
 */
#define QUEUE      200u
#define RUN_MS     40u
#define MEASURE_MS 22u
/* At fast links, where a simulated millisecond has ten times the packets. */
#define HDR_RUN_MS     24u
#define HDR_MEASURE_MS 10u

struct spot {
	uint32_t dst, n, from[MAX_HOSTS], rate[MAX_HOSTS];
	uint32_t sink; /* Mb/s; 0: input-generated */
	uint32_t start_ms, stop_ms;
};

struct draw {
	uint64_t rng;
	bool hdr;
	uint32_t leaves, per_leaf, spines, hosts;
	uint32_t base, up, host_rate[MAX_HOSTS], slowest;
	double left[MAX_HOSTS]; /* of each host's link */
	uint32_t buffer;
	bool pairs, periodic;
	uint32_t peer[MAX_HOSTS], own[MAX_HOSTS]; /* background: receiver and rate of each host */
	uint32_t n_spots;
	struct spot spot[MAX_SPOTS];
};

static uint32_t between(struct draw *d, uint32_t low, uint32_t high)
{
	return low + ibcc_rng_below(&d->rng, high - low + 1);
}

static bool chance(struct draw *d, uint32_t percent)
{
	return ibcc_rng_below(&d->rng, 100) < percent;
}

static void draw_fabric(struct draw *d)
{
	static const uint32_t rates[2][3] = { { 8000, 16000, 32000 }, { 100000, 200000, 400000 } };
	static const uint32_t buffers[2][3] = { { 16384, 32768, 65536 },
						{ 65536, 131072, 262144 } };
	bool unequal;

	d->leaves = between(d, 2, 5);
	d->per_leaf = between(d, 3, 6);
	d->spines = between(d, 1, d->per_leaf);
	d->hosts = d->leaves * d->per_leaf;
	d->base = rates[d->hdr][between(d, 0, 2)];
	d->up = chance(d, 20) ? 2 * d->base : d->base;
	d->buffer = buffers[d->hdr][between(d, 0, 2)];
	d->slowest = d->base;
	unequal = chance(d, 30);
	for (uint32_t i = 0; i < d->hosts; i++) {
		d->host_rate[i] = unequal ? d->base >> between(d, 0, 2) : d->base;
		d->slowest = d->host_rate[i] < d->slowest ? d->host_rate[i] : d->slowest;
		d->left[i] = SOURCE_SHARE * d->host_rate[i];
	}
}

/* What uplinks carry of uniform traffic, with destinations divided among them as evenly as
 * possible.
 */
static double uniform_limit(const struct draw *d)
{
	uint32_t away = d->hosts - d->per_leaf, fullest = (away + d->spines - 1) / d->spines;
	double out = (double)d->per_leaf * fullest / (d->hosts - 1);

	return 0.85 * d->up / out;
}

static void draw_background(struct draw *d)
{
	double load = between(d, 5, 70) / 100.0, rate = load * d->slowest;

	d->pairs = chance(d, 30);
	d->periodic = chance(d, 50);
	if (!d->pairs && rate > uniform_limit(d))
		rate = uniform_limit(d);
	for (uint32_t i = 0; i < d->hosts; i++) {
		d->peer[i] = (i + between(d, 1, d->hosts - 1)) % d->hosts;
		d->own[i] = (uint32_t)(rate < d->left[i] ? rate : d->left[i]);
		d->left[i] -= d->own[i];
	}
}

static bool is_taken(const struct draw *d, uint32_t host)
{
	for (uint32_t i = 0; i < d->n_spots; i++)
		if (d->spot[i].dst == host)
			return true;
	return false;
}

/* Draws sources in random order, as many as the degree says or as are needed to fill the capacity.
 * A host whose only background already goes to the hotspot is no source: see write_background().
 */
static void draw_sources(struct draw *d, struct spot *s, double capacity, double severity)
{
	uint32_t order[MAX_HOSTS], n = 0, degree;
	double sum = 0;

	for (uint32_t i = 0; i < d->hosts; i++)
		if (i != s->dst)
			order[n++] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t k = between(d, 0, i), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	degree = chance(d, 20) ? n : between(d, 2, n < 16 ? n : 16);
	for (uint32_t i = 0; i < n && (i < degree || sum < 1.2 * capacity); i++) {
		double want = severity * capacity / degree, left = d->left[order[i]];

		if (d->pairs && d->peer[order[i]] == s->dst)
			continue;
		s->from[s->n] = order[i];
		s->rate[s->n] = (uint32_t)(want < left ? want : left);
		if (s->rate[s->n] < 2)
			continue;
		d->left[order[i]] -= s->rate[s->n];
		sum += s->rate[s->n++];
	}
}

static void draw_spots(struct draw *d)
{
	static const uint32_t numbers[] = { 0, 1, 1, 1, 1, 1, 2, 2, 2, 3 };
	uint32_t n = numbers[between(d, 0, 9)];

	while (d->n_spots < n) {
		struct spot *s = &d->spot[d->n_spots];
		double severity;

		*s = (struct spot){ .dst = between(d, 0, d->hosts - 1) };
		if (is_taken(d, s->dst))
			continue;
		if (chance(d, 50))
			s->sink = d->host_rate[s->dst] * between(d, 10, 60) / 100;
		severity = between(d, 12, 40) / 10.0;
		draw_sources(d, s, s->sink ? s->sink : d->host_rate[s->dst], severity);
		s->start_ms = between(d, 1, 5);
		s->stop_ms = chance(d, 25) ? between(d, 12, 16) : 0;
		d->n_spots++;
	}
}

static void write_fabric(const struct draw *d, FILE *out)
{
	fprintf(out, "topology:\n  rate: %u Mb/s\n%s  nodes:\n    - {host: [", d->up,
		d->hdr ? "  mtu_bytes: 4096\n" : "");
	for (uint32_t i = 0; i < d->hosts; i++)
		fprintf(out, "%sh%u", i ? ", " : "", i);
	fputs("]}\n    - {switch: [", out);
	for (uint32_t i = 0; i < d->leaves; i++)
		fprintf(out, "%sleaf%u", i ? ", " : "", i);
	fprintf(out, "], ports: %u}\n    - {switch: [", d->per_leaf + d->spines);
	for (uint32_t i = 0; i < d->spines; i++)
		fprintf(out, "%sspine%u", i ? ", " : "", i);
	fprintf(out, "], ports: %u}\n  links:\n", d->leaves);
	for (uint32_t i = 0; i < d->hosts; i++)
		fprintf(out, "    - {ends: [h%u, leaf%u/%u], rate: %u Mb/s}\n", i, i / d->per_leaf,
			i % d->per_leaf + 1, d->host_rate[i]);
	for (uint32_t i = 0; i < d->leaves; i++)
		for (uint32_t k = 0; k < d->spines; k++)
			fprintf(out, "    - [leaf%u/%u, spine%u/%u]\n", i, d->per_leaf + k + 1, k,
				i + 1);
}

static bool is_hot_for(const struct draw *d, uint32_t from, uint32_t dst)
{
	for (uint32_t k = 0; k < d->n_spots; k++)
		for (uint32_t i = 0; i < d->spot[k].n && d->spot[k].dst == dst; i++)
			if (d->spot[k].from[i] == from)
				return true;
	return false;
}

/* Writes background traffic. Background to all hosts leaves out the hotspots to which its source
 * also sends. Both flows would be one queue pair, which gets one share where the ideal counts two,
 * and only the lengths of their queues would divide that share.
 */
static void write_background(const struct draw *d, uint32_t i, const char *arrivals, FILE *out)
{
	uint32_t n = 0, hot = 0;

	for (uint32_t k = 0; k < d->hosts; k++)
		hot += is_hot_for(d, i, k);
	fprintf(out, "  - {name: own%u, from: h%u, to: ", i, i);
	if (d->pairs || !hot) {
		fprintf(out, d->pairs ? "h%u" : "all", d->peer[i]);
		fprintf(out, ", rate: %u Mb/s, arrivals: %s}\n", d->own[i], arrivals);
		return;
	}
	for (uint32_t k = 0; k < d->hosts; k++)
		if (k != i && !is_hot_for(d, i, k))
			fprintf(out, "%sh%u", n++ ? ", " : "[", k);
	fprintf(out, "], rate: %u Mb/s, arrivals: %s}\n", d->own[i] / n, arrivals);
}

static void write_traffic(const struct draw *d, FILE *out)
{
	const char *arrivals = d->periodic ? "periodic" : "exponential";

	fputs("traffic:\n", out);
	for (uint32_t i = 0; i < d->hosts; i++)
		if (d->own[i] >= d->hosts)
			write_background(d, i, arrivals, out);
	for (uint32_t k = 0; k < d->n_spots; k++) {
		const struct spot *s = &d->spot[k];

		for (uint32_t i = 0; i < s->n; i++) {
			fprintf(out,
				"  - {name: hot%u-%u, from: h%u, to: h%u, kind: hot, rate: %u "
				"Mb/s, "
				"arrivals: %s, queue_packets: %u, start_ms: %u",
				k, s->from[i], s->from[i], s->dst, s->rate[i], arrivals, QUEUE,
				s->start_ms);
			if (s->stop_ms)
				fprintf(out, ", stop_ms: %u", s->stop_ms);
			fputs("}\n", out);
		}
	}
}

static void write_events(const struct draw *d, FILE *out)
{
	bool any = false;

	for (uint32_t k = 0; k < d->n_spots; k++) {
		const struct spot *s = &d->spot[k];

		if (!s->sink)
			continue;
		fputs(any ? "" : "events:\n", out);
		any = true;
		fprintf(out, "  - {sink: h%u, at_ms: %u, rate: %u Mb/s}\n", s->dst, s->start_ms,
			s->sink);
		if (s->stop_ms)
			fprintf(out, "  - {sink: h%u, at_ms: %u, rate: link}\n", s->dst,
				s->stop_ms);
	}
}

struct drawn {
	uint64_t seed;
	bool hdr;
};

static int write_draw(void *arg, FILE *out)
{
	const struct drawn *w = arg;
	struct draw d = { .rng = w->seed, .hdr = w->hdr };

	draw_fabric(&d);
	draw_background(&d);
	draw_spots(&d);
	fprintf(out,
		"name: drawn-%llu\nseed: %llu\nduration_ms: %u\nmeasure_from_ms: %u\n"
		"model: {%sbuffer_bytes: %u, hca_buffer_bytes: %u}\n",
		(unsigned long long)w->seed, (unsigned long long)w->seed,
		w->hdr ? HDR_RUN_MS : RUN_MS, w->hdr ? HDR_MEASURE_MS : MEASURE_MS,
		w->hdr ? "packet_bytes: 4096, header_bytes: 26, " : "", d.buffer, d.buffer);
	write_fabric(&d, out);
	write_traffic(&d, out);
	write_events(&d, out);
	return ferror(out) ? -EIO : 0;
}

int ibcc_draw_write(uint64_t seed, FILE *out)
{
	struct drawn w = { .seed = seed };

	return write_draw(&w, out);
}

int ibcc_draw_load_written(int (*write)(void *arg, FILE *out), void *arg,
			   const struct ibcc_words *set, struct ibcc_scenario *s,
			   struct ibcc_yaml_errors *e)
{
	const char *folder = getenv("TMPDIR");
	char path[512];
	FILE *f;
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/ibcc-draw.XXXXXX", folder ? folder : "/tmp") >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		rc = -errno;
		if (fd >= 0)
			/* cppcheck-suppress doubleFree ; fdopen() leaves it open when it fails */
			close(fd);
		return rc;
	}
	rc = write(arg, f);
	if (fclose(f) && !rc)
		rc = -errno;
	if (!rc)
		rc = ibcc_scenario_load_set(path, set ? (const char *const *)set->w : NULL,
					    set ? set->n : 0, s, e);
	unlink(path);
	return rc;
}

static int load(uint64_t seed, bool hdr, const struct ibcc_words *set, struct ibcc_scenario *s,
		struct ibcc_yaml_errors *e)
{
	struct drawn w = { seed, hdr };

	return ibcc_draw_load_written(write_draw, &w, set, s, e);
}

int ibcc_draw_load(uint64_t seed, struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	return load(seed, false, NULL, s, e);
}

int ibcc_draw_load_set(uint64_t seed, const struct ibcc_words *set, struct ibcc_scenario *s,
		       struct ibcc_yaml_errors *e)
{
	return load(seed, false, set, s, e);
}

int ibcc_draw_load_hdr(uint64_t seed, const struct ibcc_words *set, struct ibcc_scenario *s,
		       struct ibcc_yaml_errors *e)
{
	return load(seed, true, set, s, e);
}

double ibcc_draw_most(const struct ibcc_measure_flow *f)
{
	return fmin(f->ideal_mbps, f->offered_mbps);
}

double ibcc_draw_share(const struct ibcc_measure *m)
{
	double got = 0, best = 0;

	for (uint32_t i = 0; i < m->n_flows; i++) {
		double most = ibcc_draw_most(&m->flow[i]);

		got += fmin(m->flow[i].throughput_mbps, most);
		best += most;
	}
	return best > 0 ? got / best : NAN;
}
