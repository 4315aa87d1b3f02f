/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A bar with the time left, on stderr if that is a terminal. */
#ifndef PERFTEST_LAB_PROGRESS_H
#define PERFTEST_LAB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ibcc_progress {
	bool on;
	uint64_t n, done;
	uint64_t whole; /* total of which n is a part, to show its time, too; 0: nothing */
	double start_s, shown_s;
};

void ibcc_progress_begin(struct ibcc_progress *p, uint64_t n);
void ibcc_progress_step(struct ibcc_progress *p);
void ibcc_progress_end(struct ibcc_progress *p);

/* A time for people: "45 s", "12 min", "3.2 h", "5.1 days". */
const char *ibcc_progress_time(double seconds, char *buf, unsigned int len);

#endif
