/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/plans.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perftest/bench/bench.h"

struct hosts {
	const char *const *host;
	size_t n;
};

struct plan {
	const char *name;
	size_t least; /* least number of hosts */
	const char *what;
	void (*write)(const struct hosts *h, FILE *out);
};

static int name_length(const char *host)
{
	return (int)strcspn(host, "=");
}

/* Prints [a, b, c]: hosts from .. to - 1. */
static void list(const struct hosts *h, size_t from, size_t to, FILE *out)
{
	fputc('[', out);
	for (size_t i = from; i < to; i++)
		fprintf(out, "%s%.*s", i > from ? ", " : "", name_length(h->host[i]), h->host[i]);
	fputc(']', out);
}

static void one(const struct hosts *h, size_t i, FILE *out)
{
	fprintf(out, "%.*s", name_length(h->host[i]), h->host[i]);
}

/* Prints two switches, with the first n_left hosts at the second: for ibcc-bench only. */
static void two_switches(const struct hosts *h, size_t n_left, FILE *out)
{
	size_t right = h->n - n_left;

	fputs("topology:\n  # For ibcc-bench scenario; traffic on a fabric takes the fabric's.\n"
	      "  nodes:\n  - {host: ",
	      out);
	list(h, 0, h->n, out);
	fprintf(out,
		"}\n  - {switch: leaf1, ports: %zu}\n  - {switch: leaf2, ports: %zu}\n"
		"  links:\n  - {ends: [leaf1/%zu, leaf2/%zu], rate: 12x QDR}\n",
		right + 1, n_left + 1, right + 1, n_left + 1);
	for (size_t i = 0; i < h->n; i++)
		fprintf(out, "  - [%.*s, leaf%d/%zu]\n", name_length(h->host[i]), h->host[i],
			i < n_left ? 2 : 1, i < n_left ? i + 1 : i - n_left + 1);
}

static void hotspot(const struct hosts *h, FILE *out)
{
	fputs("# The first host is the hot receiver; the second receives the victim, which the "
	      "last "
	      "one "
	      "sends.\n# Choose senders behind one switch and receivers behind another, so that "
	      "all "
	      "share a link.\n",
	      out);
	two_switches(h, 2, out);
	fputs("traffic:\n- {name: hot, kind: hot, from: ", out);
	list(h, 2, h->n - 1, out);
	fputs(", to: ", out);
	one(h, 0, out);
	fputs("}\n- {name: victim, kind: victim, from: ", out);
	one(h, h->n - 1, out);
	fputs(", to: ", out);
	one(h, 1, out);
	fputs("}\n", out);
}

static void all_to_all(const struct hosts *h, FILE *out)
{
	(void)h;
	fputs("# Each host sends to all others: for each message it chooses one at random.\n"
	      "traffic:\n- {name: all-to-all, from: all, to: all, message_bytes: 65536, "
	      "window_messages: 16}\n",
	      out);
}

static void allreduce(const struct hosts *h, FILE *out)
{
	fputs("# A ring, as allreduce uses it: each host sends to the next one, in bursts with "
	      "pauses for\n# computing. The clock starts each burst, not the data of the host "
	      "before.\n"
	      "traffic:\n",
	      out);
	for (size_t i = 0; i < h->n; i++) {
		fputs("- {name: ring-", out);
		one(h, i, out);
		fputs(", from: ", out);
		one(h, i, out);
		fputs(", to: ", out);
		one(h, (i + 1) % h->n, out);
		fputs(", message_bytes: 1048576, window_messages: 2, on_ms: 200, off_ms: 50}\n",
		      out);
	}
}

static void checkpoint(const struct hosts *h, FILE *out)
{
	size_t storage = h->n / 4 ? h->n / 4 : 1;

	fprintf(out,
		"# Every two seconds all other hosts write at once to each of the storage hosts, "
		"which come first\n# in the list: %zu.\ntraffic:\n- {name: checkpoint, kind: hot, "
		"from: ",
		storage);
	list(h, storage, h->n, out);
	fputs(", to: ", out);
	list(h, 0, storage, out);
	fputs(", message_bytes: 1048576, window_messages: 8, on_ms: 500, off_ms: 1500}\n", out);
}

static const struct plan plans[] = {
	{ "hotspot", 5, "many hosts to the first one, and a victim over the same link", hotspot },
	{ "all-to-all", 2, "each host to all others", all_to_all },
	{ "allreduce", 2, "a ring of hosts, in bursts", allreduce },
	{ "checkpoint", 2, "bursts from all hosts to the first quarter of them", checkpoint },
};

/* Whether a host's name can stand in YAML and in our own lists without quotes. */
static bool is_name(const char *host)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = (size_t)name_length(host);

	return n && n < IBCC_NAME_BYTES && strspn(host, good) == n && host[0] != '-' &&
	       (!host[n] || (host[n + 1] && !strpbrk(host + n + 1, "\"\\\n")));
}

int ibcc_perf_plan_write(const char *name, const char *const *host, size_t n, FILE *out)
{
	const struct hosts h = { host, n };
	const struct plan *p = NULL;
	size_t i;

	for (i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		if (!strcmp(plans[i].name, name))
			p = &plans[i];
	if (!p)
		return -ENOENT;
	for (i = 0; i < n; i++)
		if (!is_name(host[i]))
			return -EINVAL;
	if (n < p->least)
		return -EINVAL;
	fprintf(out,
		"# Made by ibcc-perf plan %s.\nname: %s\nduration_ms: 10000\n"
		"measure_from_ms: 1000\nhosts:\n",
		name, name);
	for (i = 0; i < n; i++) {
		int len = name_length(host[i]);

		fprintf(out, "- {name: %.*s", len, host[i]);
		if (host[i][len])
			fprintf(out, ", address: \"%s\"", host[i] + len + 1);
		fputs("}\n", out);
	}
	fputs("verbs: {operation: write, message_bytes: 65536, window_messages: 16}\n", out);
	p->write(&h, out);
	return ferror(out) ? -EIO : 0;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	int rc, at;

	if (ibcc_command_read(c, argc, argv, NULL, &at))
		return IBCC_EXIT_ERROR;
	if (at == argc) {
		for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
			printf("%-12s %s\n", plans[i].name, plans[i].what);
		return IBCC_EXIT_OK;
	}
	rc = ibcc_perf_plan_write(argv[at], (const char *const *)argv + at + 1,
				  (size_t)(argc - at - 1), stdout);
	if (rc == -ENOENT)
		fprintf(stderr, "ibcc-perf: there is no plan %s; \"ibcc-perf plan\" lists all\n",
			argv[at]);
	else if (rc == -EINVAL)
		fprintf(stderr,
			"ibcc-perf: %s: want hosts as NAME or NAME=ADDRESS, at least 5 of them for "
			"hotspot and 2 for the others\n",
			argv[at]);
	return rc || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_perf_plan = {
	.name = "plan",
	.arguments = "[NAME HOST[=ADDRESS]...]",
	.what = "print a ready-made plan, or list them",
	.most = -1,
	.run = run,
};
