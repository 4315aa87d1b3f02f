/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The simulator's side towards ibsim, when ibsim dies under requests: this file is the ibsim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/upstream.h"

struct scene {
	sd_event *ev;
	struct ibcc_upstream *u;
	char name[32];
	int fd;      /* ibsim's socket of control */
	int port[2]; /* and those of its clients 0 and 1 */
	struct sockaddr_un from;
	socklen_t from_len;
	struct ibcc_upstream_slot *slot;
	uint32_t answers, type;
};

static void on_attached(void *arg, struct ibcc_upstream_slot *s)
{
	struct scene *x = arg;

	x->slot = s;
	x->answers++;
}

static void on_answer(void *arg, const struct ibcc_wire_ctl *reply)
{
	struct scene *x = arg;

	x->type = reply->type;
	x->answers++;
}

/* What is there is worked off. */
static void turn(struct scene *x)
{
	while (sd_event_run(x->ev, 10000) > 0)
		;
}

/* What ibsim is asked next, which has to be this. */
static struct ibcc_wire_ctl asked(struct scene *x, uint32_t type)
{
	struct ibcc_wire_ctl c;

	turn(x);
	x->from_len = sizeof(x->from);
	assert_int_equal(recvfrom(x->fd, &c, sizeof(c), MSG_DONTWAIT, (struct sockaddr *)&x->from,
				  &x->from_len),
			 sizeof(c));
	assert_int_equal(c.type, type);
	return c;
}

static void answer(struct scene *x, const struct ibcc_wire_ctl *c)
{
	assert_int_equal(sendto(x->fd, c, sizeof(*c), 0, (struct sockaddr *)&x->from, x->from_len),
			 sizeof(*c));
	turn(x);
}

/* ibsim gives a client this number. */
static void connects(struct scene *x, uint32_t id)
{
	struct ibcc_wire_ctl c = asked(x, IBCC_WIRE_CONNECT);
	struct ibcc_wire_connect info;

	memcpy(&info, c.data, sizeof(info));
	info.id = id;
	memcpy(c.data, &info, sizeof(info));
	answer(x, &c);
}

static void answers(struct scene *x, uint32_t type, uint32_t id)
{
	struct ibcc_wire_ctl c = asked(x, type);

	assert_int_equal(c.client, id);
	answer(x, &c);
}

static void starts(struct scene *x)
{
	x->fd = ibcc_wire_bind("%s:ctl", x->name);
	assert_true(x->fd >= 0);
}

static void dies(struct scene *x)
{
	close(x->fd);
	ibcc_upstream_restart(x->u);
	starts(x);
}

static int setup(void **state)
{
	static struct scene x;
	int err;

	x = (struct scene){ .type = UINT32_MAX };
	snprintf(x.name, sizeof(x.name), "ibcc-unit-%d", (int)getpid());
	assert_true(sd_event_new(&x.ev) >= 0);
	starts(&x);
	x.u = ibcc_upstream_new(x.ev, x.name, &err);
	assert_non_null(x.u);
	for (int i = 0; i < 2; i++) {
		x.port[i] = ibcc_wire_bind("%s:out%d", x.name, i);
		assert_true(x.port[i] >= 0);
	}
	assert_int_equal(ibcc_upstream_attach(x.u, "H1", on_attached, &x), 0);
	*state = &x;
	return 0;
}

static int teardown(void **state)
{
	struct scene *x = *state;

	ibcc_upstream_free(x->u);
	sd_event_unref(x->ev);
	close(x->fd);
	close(x->port[0]);
	close(x->port[1]);
	return 0;
}

/* Asked of the one that died, answered by the next, which counts its clients anew. */
static void test_request_is_made_again(void **state)
{
	const struct ibcc_wire_ctl get = { .type = IBCC_WIRE_GET_PORT };
	struct scene *x = *state;

	connects(x, 0);
	answers(x, IBCC_WIRE_GET_NODEINFO, 0);
	assert_non_null(x->slot);
	x->answers = 0;
	assert_int_equal(ibcc_upstream_ctl(x->slot, &get, on_answer, x), 0);
	asked(x, IBCC_WIRE_GET_PORT);
	dies(x);
	assert_int_equal(x->answers, 0);
	connects(x, 1);
	answers(x, IBCC_WIRE_GET_PORT, 1);
	assert_int_equal(x->answers, 1);
	assert_int_equal(x->type, IBCC_WIRE_GET_PORT);
	answers(x, IBCC_WIRE_GET_NODEINFO, 1);
	ibcc_upstream_release(x->slot);
}

/* A client that is being attached comes to be, at whichever of the requests ibsim dies. */
static void test_attaching_goes_on(void **state)
{
	struct scene *x = *state;

	asked(x, IBCC_WIRE_CONNECT);
	dies(x);
	connects(x, 0);
	asked(x, IBCC_WIRE_GET_NODEINFO);
	dies(x);
	connects(x, 1);
	answers(x, IBCC_WIRE_GET_NODEINFO, 1);
	assert_int_equal(x->answers, 1);
	assert_non_null(x->slot);
	ibcc_upstream_release(x->slot);
	answers(x, IBCC_WIRE_DISCONNECT, 1); /* what it is was asked of each ibsim once */
}

/* Until ibsim has heard that a client has left it goes on sending to it. */
static void test_sent_to_who_has_left(void **state)
{
	const struct ibcc_wire_mad m = { 0 };
	struct scene *x = *state;
	struct sockaddr_un to;
	socklen_t len;

	connects(x, 0);
	answers(x, IBCC_WIRE_GET_NODEINFO, 0);
	ibcc_upstream_release(x->slot);
	assert_int_equal(ibcc_wire_addr(&to, &len, "%s:in1", x->name), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sendto(x->port[0], &m, sizeof(m), 0, (struct sockaddr *)&to, len),
				 sizeof(m));
		turn(x);
	}
	answers(x, IBCC_WIRE_DISCONNECT, 0);
	x->answers = 0;
	assert_int_equal(ibcc_upstream_attach(x->u, "H1", on_attached, x), 0);
	connects(x, 1);
	answers(x, IBCC_WIRE_GET_NODEINFO, 1);
	assert_int_equal(x->answers, 1);
	ibcc_upstream_release(x->slot);
}

/* A client that has left is asked for no more. */
static void test_leaving_is_not_made_again(void **state)
{
	const struct ibcc_wire_ctl get = { .type = IBCC_WIRE_GET_PORT };
	struct scene *x = *state;

	connects(x, 0);
	answers(x, IBCC_WIRE_GET_NODEINFO, 0);
	x->answers = 0;
	assert_int_equal(ibcc_upstream_ctl(x->slot, &get, on_answer, x), 0);
	ibcc_upstream_cancel(x->u, x);
	ibcc_upstream_release(x->slot);
	dies(x);
	assert_int_equal(x->answers, 0);
	assert_int_equal(ibcc_upstream_attach(x->u, "H1", on_attached, x), 0);
	connects(x, 1);
	answers(x, IBCC_WIRE_GET_NODEINFO, 1);
	assert_int_equal(x->answers, 1);
	ibcc_upstream_release(x->slot);
}

/* What the sender of a MAD gets for it. */
static void on_end(void *arg, struct ibcc_wire_mad *m)
{
	struct ibcc_wire_mad *end = arg;

	*end = *m;
}

static struct ibcc_wire_mad mad(uint8_t method, uint8_t tid)
{
	struct ibcc_wire_mad m = { .mad = { 1, IBCC_MAD_CLASS_SMP, 1, method, [15] = tid } };

	return m;
}

/* What ibsim is sent next, with a number in place of the sender's. */
static struct ibcc_wire_mad forwarded(struct scene *x, uint8_t method)
{
	struct ibcc_wire_mad m;

	turn(x);
	assert_int_equal(recv(x->port[0], &m, sizeof(m), MSG_DONTWAIT), sizeof(m));
	assert_int_equal(m.mad[3], method);
	return m;
}

/* OpenSM waits for the end of each trap of its own, for ever. */
static void test_trap_is_ended_by_its_repression(void **state)
{
	struct ibcc_wire_mad trap = mad(IBCC_MAD_TRAP, 42), get = mad(IBCC_MAD_GET, 43), out;
	struct ibcc_wire_mad end_of_trap = { 0 }, end_of_get = { 0 };
	struct scene *x = *state;

	connects(x, 0);
	answers(x, IBCC_WIRE_GET_NODEINFO, 0);
	assert_int_equal(ibcc_upstream_send(x->slot, &get, on_end, &end_of_get), 0);
	out = forwarded(x, IBCC_MAD_GET);
	out.mad[3] = IBCC_MAD_TRAP_REPRESS;
	ibcc_upstream_answered(x->u, &out);
	assert_int_equal(end_of_get.mad[3], 0);
	assert_int_equal(ibcc_upstream_send(x->slot, &trap, on_end, &end_of_trap), 0);
	out = forwarded(x, IBCC_MAD_TRAP);
	out.mad[3] = IBCC_MAD_GET_RESP;
	ibcc_upstream_answered(x->u, &out);
	assert_int_equal(end_of_trap.mad[3], 0);
	out.mad[3] = IBCC_MAD_TRAP_REPRESS;
	ibcc_upstream_answered(x->u, &out);
	assert_int_equal(end_of_trap.mad[3], IBCC_MAD_TRAP_REPRESS);
	assert_int_equal(end_of_trap.mad[15], 42);
	assert_int_equal(end_of_trap.status, 0);
	ibcc_upstream_release(x->slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_request_is_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attaching_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sent_to_who_has_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leaving_is_not_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trap_is_ended_by_its_repression, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
