/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client of subnet administration, over a libibumad of the test's own: answers to what was asked,
 * late ones, short ones and unsolicited ones, requests that come back undelivered, and
 * reports from the subnet manager and from others.
 *
 * Input: one record for each wait: what happens (enum event), flags, the length (0: 256), an
 * offset, a number of bytes, and so many bytes, which are laid over the datagram from that offset
 * on.
 */
#include "tests/fuzz/fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <time.h>

#include <infiniband/umad.h>

#include <ibcc/mad.h>
#include <ibcc/notice.h>

#include "lib/mad/sa_client.h"

#define FD     1024
#define AGENT  7
#define SM_LID 1

enum event { SILENCE, ANSWER, ANYTHING, COMES_BACK, N_EVENTS };
#define FROM_OTHER 1u /* not from the subnet manager's LID */
#define FAILED     2u /* with a status */

/* The port. */
static struct {
	const uint8_t *data;
	size_t size;
	bool fake_time;
	int64_t now_ms;
	uint8_t sent[IBCC_MAD_BYTES]; /* the last one that wants an answer */
	unsigned int n_sent, n_reports;
	/* What came last. */
	uint8_t got[IBCC_MAD_BYTES];
	int len;
	bool got_any, other, failed;
} port;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!port.fake_time)
		return __real_clock_gettime(clock, t);
	t->tv_sec = port.now_ms / 1000;
	t->tv_nsec = port.now_ms % 1000 * 1000000;
	return 0;
}

int ibcc_umad_port_find(const struct ibcc_umad_options *o, struct ibcc_umad_port *out, char *why,
			size_t len)
{
	(void)o;
	(void)why;
	(void)len;
	*out = (struct ibcc_umad_port){ .ca = "fuzz0", .num = 1, .lid = 2, .sm_lid = SM_LID };
	return 0;
}

int umad_open_port(const char *ca, int num)
{
	(void)ca;
	(void)num;
	return FD;
}

int umad_close_port(int fd)
{
	(void)fd;
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp,
		  long methods[16 / sizeof(long)])
{
	(void)fd;
	(void)mgmt_class;
	(void)version;
	(void)rmpp;
	(void)methods;
	return AGENT;
}

int umad_unregister(int fd, int agent)
{
	(void)fd;
	(void)agent;
	return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	(void)fd;
	(void)agent;
	(void)retries;
	FUZZ_CHECK(length == (int)IBCC_MAD_BYTES);
	FUZZ_CHECK(ntohs(umad_get_mad_addr(umad)->lid) == SM_LID);
	if (!timeout_ms)
		return 0;
	memcpy(port.sent, umad_get_mad(umad), IBCC_MAD_BYTES);
	port.n_sent++;
	return 0;
}

static uint8_t byte(void)
{
	if (!port.size)
		return 0;
	port.size--;
	return *port.data++;
}

static int nothing(int *length, int timeout_ms)
{
	port.now_ms += timeout_ms;
	*length = 0;
	return -ETIMEDOUT;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	uint8_t event = byte() % N_EVENTS, flags = byte(), len = byte(), at = byte(), n = byte();

	(void)fd;
	port.got_any = false;
	if (event == SILENCE || !port.size)
		return nothing(length, timeout_ms);
	port.now_ms++;
	memset(port.got, 0, sizeof(port.got));
	if (event != ANYTHING)
		memcpy(port.got, port.sent, sizeof(port.got));
	if (event == ANSWER)
		port.got[3] = 0x81;
	for (unsigned int i = 0; i < n && at + i < sizeof(port.got) && port.size; i++)
		port.got[at + i] = byte();
	port.got_any = true;
	port.len = len ? len : (int)IBCC_MAD_BYTES;
	port.other = flags & FROM_OTHER;
	port.failed = event == COMES_BACK || flags & FAILED;
	memcpy(umad_get_mad(umad), port.got, (size_t)port.len);
	((struct ib_user_mad *)umad)->status = port.failed ? ETIMEDOUT : 0;
	umad_get_mad_addr(umad)->lid = htons(port.other ? SM_LID + 1 : SM_LID);
	*length = port.len;
	return AGENT;
}

/* As the daemon takes reports. */
static void take_report(struct ibcc_sa_client *c, uint8_t *mad, void *arg)
{
	uint16_t trap;

	/* Only the subnet manager is answered, and nothing that is not whole. */
	FUZZ_CHECK(arg == &port && port.got_any && !port.other && !port.failed);
	FUZZ_CHECK(port.len == (int)IBCC_MAD_BYTES && !memcmp(mad, port.got, IBCC_MAD_BYTES));
	port.n_reports++;
	if (!ibcc_notice_report(mad, &trap))
		return;
	ibcc_notice_respond(mad);
	FUZZ_CHECK(!ibcc_sa_send(c, mad, 0));
}

static uint32_t tid_of(const uint8_t *mad)
{
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	return (uint32_t)h.tid;
}

static void ask(struct ibcc_sa_client *c, unsigned int tries)
{
	uint8_t mad[IBCC_MAD_BYTES], asked[IBCC_MAD_BYTES];
	int rc;

	ibcc_notice_subscribe(asked, IBCC_TRAP_LINK_STATE, true);
	memcpy(mad, asked, sizeof(mad));
	rc = ibcc_sa_ask(c, mad, tries);
	if (rc) {
		/* What was asked can be asked again. */
		FUZZ_CHECK(rc == -ETIMEDOUT);
		memcpy(asked + 8, mad + 8, 8); /* with the number of the last try */
		FUZZ_CHECK(!memcmp(mad, asked, sizeof(mad)));
		return;
	}
	/* An answer is the one to the last request, to the end of what came. */
	FUZZ_CHECK(port.got_any && !port.failed && port.len >= (int)IBCC_MAD_HEADER_BYTES);
	FUZZ_CHECK(tid_of(mad) == tid_of(port.sent) && mad[3] != IBCC_MAD_REPORT);
	FUZZ_CHECK(!memcmp(mad, port.got, (size_t)port.len));
	for (int i = port.len; i < (int)IBCC_MAD_BYTES; i++)
		FUZZ_CHECK(!mad[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibcc_umad_options o = { 0 };
	struct ibcc_sa_client c = { .report = take_report, .arg = &port };

	memset(&port, 0, sizeof(port));
	port.data = data;
	port.size = size;
	port.fake_time = true;
	port.now_ms = 1000;
	FUZZ_CHECK(!ibcc_sa_open(&c, &o));
	for (unsigned int i = 0; port.size; i++) {
		if (i % 2)
			ibcc_sa_listen(&c, 200);
		else
			ask(&c, 1 + i % 3);
		FUZZ_CHECK(c.n_open <= port.n_sent);
	}
	ibcc_sa_close(&c);
	FUZZ_CHECK(c.fd == -1 && !c.buf);
	port.fake_time = false;
	return 0;
}
