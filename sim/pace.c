/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lets the engine's time follow wall time (pace.h). The engine runs in slices that are short
 * enough for nothing else in the loop to wait long. When there was no processor for a while, it
 * catches up, so that time goes on evenly for programs that read counters. An engine that cannot
 * keep up falls behind for good: the time beyond BEHIND_US is left out.
 */
#include "sim/pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ibcc/now.h>
#include <ibcc/sim_clock.h>

#define SLICE_US   400u  /* of wall time, then other event sources have their turn */
#define STEP_US    100u  /* wall time that one call of the engine should take */
#define IDLE_US    5000u /* between slices when there is nothing to catch up with */
#define WINDOW_US  1000000u
#define STEP_MIN   1000u                 /* ps */
#define STEP_MAX   (10 * IBCC_PS_PER_MS) /* ps */
#define BEHIND_MIN (2 * IBCC_PS_PER_MS)  /* ps */
#define BEHIND_US  500000u               /* of wall time, or BEHIND_MIN: the rest is left out */
#define KEEPS_UP   0.9                   /* nothing waits for an engine that reaches less */

struct ibcc_pace {
	sd_event *ev;
	sd_event_source *timer;
	struct ibcc_sim_fabric *w;
	int clock_fd; /* see <ibcc/sim_clock.h> */
	double speed, reached;
	uint64_t step_ps;              /* takes about STEP_US */
	uint64_t ref_us, ref_ps;       /* the line that engine time follows */
	uint64_t window_us, window_ps; /* where the measuring of the speed began */
	bool deadlocked;               /* a deadlock was found, and has been reported */
	ibcc_pace_failed *failed;
	void *arg;
};

static uint64_t wall_us(void)
{
	return ibcc_now_ns() / 1000u;
}

static void set_ref(struct ibcc_pace *p, uint64_t now_us)
{
	p->ref_us = now_us;
	p->ref_ps = ibcc_sim_fabric_now_ps(p->w);
}

static uint64_t target_ps(const struct ibcc_pace *p, uint64_t at_us)
{
	return p->ref_ps + (uint64_t)((double)(at_us - p->ref_us) * 1e6 * p->speed);
}

/* Publishes the engine's time: a program that reads counters must find the time that they belong
 * to. The caller of ibcc_pace_new() has written the file before, so nothing is left that could
 * fail.
 */
static void publish(const struct ibcc_pace *p, uint64_t now_us)
{
	(void)ibcc_sim_clock_write(p->clock_fd, ibcc_sim_fabric_now_ps(p->w) / 1000, now_us * 1000);
}

/* Engine time that may be caught up with. */
static uint64_t behind_max_ps(const struct ibcc_pace *p)
{
	double ps = BEHIND_US * 1e6 * p->speed;

	return ps > (double)BEHIND_MIN ? (uint64_t)ps : BEHIND_MIN;
}

/* Runs for a slice of SLICE_US of wall time, or up to `target`. */
static int slice(struct ibcc_pace *p, uint64_t target, uint64_t began, uint64_t slice_us)
{
	uint64_t now = began;
	int err = 0;

	while (ibcc_sim_fabric_now_ps(p->w) < target && now - began < slice_us) {
		uint64_t from = ibcc_sim_fabric_now_ps(p->w), until = from + p->step_ps, took;

		err = ibcc_sim_fabric_run(p->w, until < target ? until : target);
		if (err)
			break;
		took = wall_us() - now;
		now += took;
		if (took > 2 * STEP_US && p->step_ps > STEP_MIN)
			p->step_ps /= 2;
		else if (took < STEP_US / 2 && until < target && p->step_ps < STEP_MAX)
			p->step_ps *= 2;
	}
	publish(p, now);
	return err;
}

/* Reports a deadlock once. It is what the scenario made of the fabric, so time goes on. */
static void look_for_deadlock(struct ibcc_pace *p)
{
	char buf[IBCC_DEADLOCK_BYTES];
	int err = ibcc_sim_fabric_deadlock(p->w, buf, sizeof(buf));

	if (err == -EDEADLK && !p->deadlocked)
		fprintf(stderr,
			"ibcc-sim: %s. These outputs send again only after one of their links was "
			"down. Use routes without a circle: opensm -R updn\n",
			buf);
	p->deadlocked = err == -EDEADLK;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ibcc_pace *p = arg;
	uint64_t began = wall_us(), now_ps, target;
	int err = 0;

	(void)usec;
	target = target_ps(p, began);
	if (ibcc_sim_fabric_topo(p->w))
		err = slice(p, target, began, SLICE_US);
	else
		publish(p, began);
	if (err) {
		p->failed(p->arg, err);
		return 0;
	}
	now_ps = ibcc_sim_fabric_now_ps(p->w);
	if (began - p->window_us >= WINDOW_US) {
		p->reached =
			(double)(now_ps - p->window_ps) / ((double)(began - p->window_us) * 1e6);
		p->window_us = began;
		p->window_ps = now_ps;
		look_for_deadlock(p);
	}
	if (!ibcc_sim_fabric_topo(p->w) || target > now_ps + behind_max_ps(p))
		set_ref(p, began);
	sd_event_source_set_time(src, wall_us() + (now_ps < target ? 0 : IDLE_US));
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

void ibcc_pace_catch_up(struct ibcc_pace *p)
{
	uint64_t began = wall_us(), target = target_ps(p, began);
	int err;

	if (!ibcc_sim_fabric_topo(p->w) || target <= ibcc_sim_fabric_now_ps(p->w) ||
	    p->reached < KEEPS_UP * p->speed ||
	    target > ibcc_sim_fabric_now_ps(p->w) + behind_max_ps(p))
		return;
	err = slice(p, target, began, UINT64_MAX);
	if (err)
		p->failed(p->arg, err);
}

struct ibcc_pace *ibcc_pace_new(sd_event *ev, struct ibcc_sim_fabric *w, double speed, int clock_fd,
				ibcc_pace_failed *failed, void *arg, int *err)
{
	struct ibcc_pace *p = calloc(1, sizeof(*p));

	*err = -ENOMEM;
	if (!p)
		return NULL;
	p->ev = ev;
	p->w = w;
	p->clock_fd = clock_fd;
	p->speed = speed;
	p->failed = failed;
	p->arg = arg;
	p->step_ps = 10 * IBCC_PS_PER_US;
	p->window_us = wall_us();
	set_ref(p, p->window_us);
	*err = sd_event_add_time(ev, &p->timer, CLOCK_MONOTONIC, p->ref_us, 1, on_timer, p);
	if (*err < 0) {
		free(p);
		return NULL;
	}
	return p;
}

void ibcc_pace_free(struct ibcc_pace *p)
{
	if (!p)
		return;
	sd_event_source_disable_unref(p->timer);
	free(p);
}

void ibcc_pace_set_speed(struct ibcc_pace *p, double speed)
{
	p->speed = speed;
	set_ref(p, wall_us());
}

double ibcc_pace_speed(const struct ibcc_pace *p)
{
	return p->speed;
}

double ibcc_pace_reached(const struct ibcc_pace *p)
{
	return p->reached;
}
