/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is measured, and with which subjects: the `mpa` mapping of an experiment file. */
#ifndef PERFTEST_MPA_SETTINGS_H
#define PERFTEST_MPA_SETTINGS_H

#include <ibcc/yaml.h>

#include "perftest/mpa/node.h"

#define IBCC_MPA_MAX_SUBJECTS 12u

enum ibcc_mpa_measure {
	IBCC_MPA_LATENCY,   /* half a round trip of a send, one at a time */
	IBCC_MPA_BANDWIDTH, /* writes one behind the other */
	IBCC_MPA_OVERLAP,   /* one write, and a computation while it is under way */
	IBCC_MPA_MEMORY,    /* framing and taking apart in one thread, without NIC and socket */
};

enum ibcc_mpa_transport { IBCC_MPA_TCP, IBCC_MPA_SOCKETPAIR };

/* One of the subjects that are compared; they take turns. */
struct ibcc_mpa_subject {
	char name[40];
	enum ibcc_mpa_design design;
	uint32_t spacing; /* of markers, 0: none */
	/* enum ibcc_crc32c; `auto` is the fastest way, `hardware` falls back to table */
	int crc;
	int decoupled; /* 1 or 0, see struct ibcc_mpa_node_options */
};

struct ibcc_mpa_settings {
	enum ibcc_mpa_measure measure;
	enum ibcc_mpa_transport transport;
	uint32_t message_bytes;
	uint32_t payload_bytes; /* of a full FPDU */
	uint32_t messages;      /* in one repetition; 0: as many as the figure needs */
	uint32_t repeats;       /* repetitions: figures are their median, CPU time is the least */
	uint32_t pool_bytes;    /* memory that messages use in turn; 0: one place */
	double compute_us;      /* overlap: computing time; 0: as long as the message takes */
	size_t n_subjects;
	struct ibcc_mpa_subject subject[IBCC_MPA_MAX_SUBJECTS];
};

/* Reads a mapping; -EINVAL with errors. */
int ibcc_mpa_settings_read(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			   struct ibcc_mpa_settings *s, struct ibcc_yaml_errors *e);

/* The results for one subject. A figure that the measurement does not give is NAN. */
enum ibcc_mpa_figure {
	IBCC_MPA_LATENCY_US,
	IBCC_MPA_MBPS,          /* payload, 10^6 bit/s */
	IBCC_MPA_HOST_PERCENT,  /* share of the time that the sending host's thread was busy */
	IBCC_MPA_HOST_S_PER_GB, /* CPU time of both hosts' threads for 10^9 octets */
	IBCC_MPA_NIC_S_PER_GB,  /* CPU time of both NICs' threads for 10^9 octets */
	IBCC_MPA_TX_S_PER_GB,   /* in memory: framing */
	IBCC_MPA_RX_S_PER_GB,   /* in memory: taking apart and placing */
	/* Octets of memory that were read or written for each octet of payload, counted. */
	IBCC_MPA_HOST_TX_TOUCHED,
	IBCC_MPA_HOST_RX_TOUCHED,
	IBCC_MPA_NIC_TX_TOUCHED,
	IBCC_MPA_NIC_RX_TOUCHED,
	IBCC_MPA_PIECES,  /* pieces of memory that make an FPDU, counted */
	IBCC_MPA_WIRE,    /* octets on the wire for each octet of payload, counted */
	IBCC_MPA_HOST_US, /* CPU time of the sending host's thread for a message (overlap) */
	IBCC_MPA_HIDDEN,  /* share of a message's time that a computation of equal length hides */
	IBCC_MPA_N_FIGURES,
};
/* The figure with a name in rows, such as "latency_us"; -1 if there is none. */
int ibcc_mpa_figure_find(const char *name);

struct ibcc_mpa_result {
	double figure[IBCC_MPA_N_FIGURES];
};

#endif
