/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/settings.h"

#include <errno.h>
#include <string.h>

/* The choices of a subject's crc beyond enum ibcc_crc32c. */
#define CRC_AUTO IBCC_CRC32C_N

static int read_subject(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const char *const designs[] = { "host-based", "host-assisted", "host-offloaded",
					       NULL };
	static const char *const crcs[] = { "none", "table", "hardware", "auto", NULL };
	static const char *const insertions[] = { "coupled", "decoupled", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct ibcc_mpa_subject, name),
		  .required = true },
		{ IBCC_YAML_MEMBER("design", ENUM, struct ibcc_mpa_subject, design),
		  .names = designs },
		{ IBCC_YAML_MEMBER("markers", UINT, struct ibcc_mpa_subject, spacing),
		  .max = 32768 },
		{ IBCC_YAML_MEMBER("crc", ENUM, struct ibcc_mpa_subject, crc), .names = crcs },
		{ IBCC_YAML_MEMBER("insertion", ENUM, struct ibcc_mpa_subject, decoupled),
		  .names = insertions },
		{ .name = NULL },
	};
	struct ibcc_mpa_settings *s = arg;
	struct ibcc_mpa_subject *u = &s->subject[s->n_subjects];

	if (index >= IBCC_MPA_MAX_SUBJECTS)
		return ibcc_yaml_want(y, e, n, "mpa.subjects", "at most %u", IBCC_MPA_MAX_SUBJECTS);
	*u = (struct ibcc_mpa_subject){ .spacing = IBCC_MPA_SPACING, .crc = CRC_AUTO };
	if (ibcc_yaml_read(y, n, "mpa.subjects", keys, u, e))
		return -EINVAL;
	if (u->spacing && (u->spacing < IBCC_MPA_MIN_SPACING || u->spacing % 4))
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "markers"), "mpa.subjects.markers",
				      "0, or a multiple of 4 from %u", IBCC_MPA_MIN_SPACING);
	for (size_t i = 0; i < s->n_subjects; i++)
		if (!strcmp(s->subject[i].name, u->name))
			return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "name"),
					      "mpa.subjects.name", "different names");
	if (u->crc == CRC_AUTO || !ibcc_crc32c_has((enum ibcc_crc32c)u->crc))
		u->crc = ibcc_crc32c_best();
	s->n_subjects++;
	return 0;
}

struct settings_yaml {
	struct ibcc_mpa_settings s;
	const struct ibcc_yaml_node *subjects;
};

int ibcc_mpa_settings_read(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			   struct ibcc_mpa_settings *s, struct ibcc_yaml_errors *e)
{
	static const char *const measures[] = { "latency", "bandwidth", "overlap", "memory", NULL };
	static const char *const transports[] = { "tcp", "socketpair", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("measure", ENUM, struct settings_yaml, s.measure),
		  .names = measures, .required = true },
		{ IBCC_YAML_MEMBER("transport", ENUM, struct settings_yaml, s.transport),
		  .names = transports },
		{ IBCC_YAML_MEMBER("message_bytes", UINT, struct settings_yaml, s.message_bytes),
		  .min = 1, .max = 1 << 24 },
		{ IBCC_YAML_MEMBER("payload_bytes", UINT, struct settings_yaml, s.payload_bytes),
		  .min = 1, .max = 60000 },
		{ IBCC_YAML_MEMBER("messages", UINT, struct settings_yaml, s.messages),
		  .max = 1000000 },
		{ IBCC_YAML_MEMBER("repeats", UINT, struct settings_yaml, s.repeats), .min = 1,
		  .max = 99 },
		{ IBCC_YAML_MEMBER("pool_bytes", UINT, struct settings_yaml, s.pool_bytes),
		  .max = 1 << 30 },
		{ IBCC_YAML_MEMBER("compute_us", DOUBLE, struct settings_yaml, s.compute_us),
		  .max = 1e6 },
		{ IBCC_YAML_MEMBER("subjects", NODE, struct settings_yaml, subjects),
		  .required = true },
		{ .name = NULL },
	};
	struct settings_yaml sy = {
		.s = { .message_bytes = 1, .payload_bytes = 1400, .repeats = 5 }
	};
	int rc = ibcc_yaml_read(y, n, "mpa", keys, &sy, e);

	if (rc)
		return rc;
	rc = ibcc_yaml_each(y, sy.subjects, "mpa.subjects", read_subject, &sy.s, e);
	if (!rc && !sy.s.n_subjects)
		rc = ibcc_yaml_want(y, e, sy.subjects, "mpa.subjects", "at least one");
	*s = sy.s;
	return rc;
}

int ibcc_mpa_figure_find(const char *name)
{
	static const char *const names[IBCC_MPA_N_FIGURES] = {
		[IBCC_MPA_LATENCY_US] = "latency_us",
		[IBCC_MPA_MBPS] = "mbps",
		[IBCC_MPA_HOST_PERCENT] = "host_percent",
		[IBCC_MPA_HOST_S_PER_GB] = "host_s_per_gb",
		[IBCC_MPA_NIC_S_PER_GB] = "nic_s_per_gb",
		[IBCC_MPA_TX_S_PER_GB] = "tx_s_per_gb",
		[IBCC_MPA_RX_S_PER_GB] = "rx_s_per_gb",
		[IBCC_MPA_HOST_TX_TOUCHED] = "host_tx_touched",
		[IBCC_MPA_HOST_RX_TOUCHED] = "host_rx_touched",
		[IBCC_MPA_NIC_TX_TOUCHED] = "nic_tx_touched",
		[IBCC_MPA_NIC_RX_TOUCHED] = "nic_rx_touched",
		[IBCC_MPA_PIECES] = "pieces",
		[IBCC_MPA_WIRE] = "wire",
		[IBCC_MPA_HOST_US] = "host_us",
		[IBCC_MPA_HIDDEN] = "hidden",
	};

	for (int i = 0; i < IBCC_MPA_N_FIGURES; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}
