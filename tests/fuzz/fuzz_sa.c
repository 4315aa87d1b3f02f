/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whatever comes from subnet administration: traps, answers to subscriptions and to requests for
 * ServiceRecords; and an election that hears them at any times.
 *
 * Input: a datagram of 256 bytes, then three bytes for each answer of the election: seconds until
 * it comes, what it is, and whose record it has.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include <infiniband/mad.h>

#include <ibcc/election.h>
#include <ibcc/notice.h>

#define OWN_GUID 0x11u
#define OWN_RUN  7u
#define BEFORE   6u

static void one_datagram(const uint8_t *mad)
{
	struct ibcc_leader_record r = { 0 }, back = { 0 };
	uint8_t answer[FUZZ_MAD];
	uint16_t trap = 0;

	if (ibcc_notice_report(mad, &trap)) {
		memcpy(answer, mad, sizeof(answer));
		ibcc_notice_respond(answer);
		/* An answer that were a Report again would go to and fro for ever. */
		FUZZ_CHECK(!ibcc_notice_report(answer, &trap));
		FUZZ_CHECK(answer[3] == IBCC_MAD_REPORT_RESP);
		FUZZ_CHECK(!memcmp(answer + 8, mad + 8, 8));
		FUZZ_CHECK(!ibcc_notice_is_subscribed(mad));
	}
	if (ibcc_leader_read(mad, &r) != IBCC_LEADER_ONE)
		return;
	FUZZ_CHECK(memchr(r.name, '\0', sizeof(r.name)));
	/* What is read can be sent; under the answer's header it is read again as it was. */
	ibcc_leader_request(answer, IBCC_MAD_SET, &r);
	memcpy(answer, mad, IB_SA_DATA_OFFS);
	FUZZ_CHECK(ibcc_leader_read(answer, &back) == IBCC_LEADER_ONE);
	FUZZ_CHECK(back.prefix == r.prefix && back.guid == r.guid && back.lease_s == r.lease_s);
	FUZZ_CHECK(back.since == r.since && back.run == r.run && !strcmp(back.name, r.name));
}

static struct ibcc_leader_record record_of(uint8_t whose)
{
	struct ibcc_leader_record r = { .prefix = 1, .guid = 0x20u + whose, .run = whose };

	if (whose < 3) {
		r.guid = OWN_GUID;
		r.run = OWN_RUN - whose; /* ours, the one before, another one at our port */
	}
	return r;
}

static void one_election(const uint8_t *data, size_t size)
{
	struct ibcc_leader_record own = { .prefix = 1, .guid = OWN_GUID, .run = OWN_RUN };
	struct ibcc_election e;
	struct ibcc_why why;
	int64_t now_s = 1000;

	ibcc_election_init(&e, &own, BEFORE);
	ibcc_election_stand(&e, true, now_s);
	for (; size >= 3; data += 3, size -= 3) {
		enum ibcc_leader_answer a = (enum ibcc_leader_answer)(data[1] % 6);
		struct ibcc_leader_record r = record_of(data[2] % 8);
		uint8_t step;

		now_s += data[0] % 64;
		if (data[1] >= 240) {
			ibcc_election_stand(&e, data[2] & 1, now_s);
			continue;
		}
		if (data[1] >= 224) {
			ibcc_election_new_sa(&e, now_s);
			continue;
		}
		step = ibcc_election_due(&e, now_s);
		if (!step)
			continue;
		FUZZ_CHECK(step == IBCC_MAD_GET || step == IBCC_MAD_SET ||
			   step == IBCC_MAD_SA_DELETE);
		/* A daemon that is no candidate sets no record. */
		FUZZ_CHECK(e.stands || step != IBCC_MAD_SET);
		ibcc_election_answer(&e, now_s, a, &r);
		FUZZ_CHECK(e.due_s >= now_s || a == IBCC_LEADER_DONE);
		/* Another's record, and no daemon writes beside it. */
		if (step == IBCC_MAD_GET && a == IBCC_LEADER_ONE && r.run != OWN_RUN &&
		    r.run != BEFORE)
			FUZZ_CHECK(ibcc_election_may_write(&e, now_s, &why) == -EPERM);
		/* Unless it renews its record a leader leads no longer. */
		if (e.state == IBCC_ELECTION_LEADS)
			FUZZ_CHECK(ibcc_election_may_write(&e, e.renewed_s + IBCC_LEADER_LOST_S,
							   &why) == -EHOSTUNREACH);
		if (ibcc_election_may_write(&e, now_s, &why))
			FUZZ_CHECK(why.text[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mad[FUZZ_MAD];

	fuzz_mad(mad, data, size);
	one_datagram(mad);
	if (size > FUZZ_MAD)
		one_election(data + FUZZ_MAD, size - FUZZ_MAD);
	return 0;
}
