/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/now.h>

#include "perftest/bench/bench.h"

#define BAR          20
#define INTERVAL_S   0.2
#define FIRST_SHOW_S 1.0 /* work that ends sooner needs no bar */

const char *ibcc_progress_time(double seconds, char *buf, unsigned int len)
{
	if (seconds < 90)
		snprintf(buf, len, "%.0f s", seconds);
	else if (seconds < 5400)
		snprintf(buf, len, "%.0f min", seconds / 60);
	else if (seconds < 172800)
		snprintf(buf, len, "%.1f h", seconds / 3600);
	else
		snprintf(buf, len, "%.1f days", seconds / 86400);
	return buf;
}

void ibcc_progress_begin(struct ibcc_progress *p, uint64_t n)
{
	*p = (struct ibcc_progress){ .on = isatty(STDERR_FILENO), .n = n };
	p->start_s = ibcc_now_s();
	p->shown_s = p->start_s + FIRST_SHOW_S - INTERVAL_S;
}

/* Prints the speed and the time for all shards together, including work that was done before. */
static void show_whole(const struct ibcc_progress *p, double pace)
{
	char time[32];

	fprintf(stderr, "; %.0f an hour, all %llu in %s", pace * 3600, (unsigned long long)p->whole,
		ibcc_progress_time((double)p->whole / pace, time, sizeof(time)));
}

void ibcc_progress_step(struct ibcc_progress *p)
{
	double now = ibcc_now_s(), left;
	char bar[BAR + 1], time[32];
	int full;

	p->done++;
	if (!p->on || now < p->shown_s + INTERVAL_S)
		return;
	p->shown_s = now;
	left = (now - p->start_s) / (double)p->done * (double)(p->n - p->done);
	full = (int)(p->done * BAR / p->n);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	fprintf(stderr, "\r[%s] %llu of %llu, %s left", bar, (unsigned long long)p->done,
		(unsigned long long)p->n, ibcc_progress_time(left, time, sizeof(time)));
	if (p->whole && now > p->start_s)
		show_whole(p, (double)p->done / (now - p->start_s));
	fputs("\033[K", stderr);
	fflush(stderr);
}

void ibcc_progress_end(struct ibcc_progress *p)
{
	if (p->on)
		fputs("\r\033[K", stderr);
	p->on = false;
}
