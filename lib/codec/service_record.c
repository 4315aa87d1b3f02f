/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of ServiceRecord (IBA vol. 1, 15.2.5.14), by which daemons elect a leader (election.c),
 * in datagrams of subnet administration.
 */
#include <ibcc/election.h>

#include <string.h>

#include "wire.h"

#define ATTR_SERVICE_RECORD 0x0031u
#define RECORD_BYTES        176u

/* Places in the record. */
enum { ID = 0, PREFIX = 8, GUID = 16, LEASE = 28, NAME = 48, DATA32 = 144, DATA64 = 160 };

/* Bits of the component mask. Without the one of the lease, a record would stay for ever. */
#define MASK_ID     (1ull << 0)
#define MASK_GID    (1ull << 1)
#define MASK_LEASE  (1ull << 4)
#define MASK_NAME   (1ull << 6)
#define MASK_DATA32 (3ull << 31) /* the first two */
#define MASK_DATA64 (1ull << 35)

/* The SA's own part of a status. */
#define SA_STATUS_NO_RECORDS 0x0300u
#define SA_STATUS_TOO_MANY   0x0400u

void ibcc_leader_request(uint8_t *mad, uint8_t method, const struct ibcc_leader_record *r)
{
	uint8_t *rec = mad + IB_SA_DATA_OFFS;
	uint64_t mask = MASK_ID;

	ibcc_mad_request(mad, IBCC_MAD_CLASS_SA, (enum ibcc_mad_method)method, ATTR_SERVICE_RECORD,
			 0);
	wire_put_be64(rec + ID, IBCC_LEADER_SERVICE_ID);
	if (method != IBCC_MAD_GET) {
		mask |= MASK_GID;
		wire_put_be64(rec + PREFIX, r->prefix);
		wire_put_be64(rec + GUID, r->guid);
	}
	if (method == IBCC_MAD_SET) {
		mask |= MASK_LEASE | MASK_NAME | MASK_DATA32 | MASK_DATA64;
		wire_put_be64(rec + LEASE - 4, r->lease_s); /* what is before it stays zero */
		memcpy(rec + NAME, r->name, strnlen(r->name, sizeof(r->name) - 1));
		wire_put_be64(rec + DATA32, r->run);
		wire_put_be64(rec + DATA64, r->since);
	}
	wire_set64(mad, 0, IB_SA_COMPMASK_F, mask);
}

/* Reads the name. Any program may have set the record, so only printable ASCII is kept. */
static void read_name(char *name, const uint8_t *from)
{
	unsigned int i;

	for (i = 0; i < IBCC_LEADER_NAME_BYTES - 1 && from[i]; i++)
		name[i] =
			(char)(from[i] >= ' ' && from[i] < 0x7f && from[i] != '"' ? from[i] : '?');
	name[i] = '\0';
}

enum ibcc_leader_answer ibcc_leader_read(const uint8_t *mad, struct ibcc_leader_record *r)
{
	const uint8_t *rec = mad + IB_SA_DATA_OFFS;
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	if (h.mgmt_class != IBCC_MAD_CLASS_SA || h.attr_id != ATTR_SERVICE_RECORD)
		return IBCC_LEADER_REFUSED;
	if (h.status == SA_STATUS_NO_RECORDS)
		return IBCC_LEADER_NONE;
	if (h.status == SA_STATUS_TOO_MANY)
		return IBCC_LEADER_MANY;
	if (h.status || (h.method != IBCC_MAD_GET_RESP && h.method != IBCC_MAD_SA_DELETE_RESP))
		return IBCC_LEADER_REFUSED;
	if (h.method == IBCC_MAD_SA_DELETE_RESP)
		return IBCC_LEADER_DONE;
	*r = (struct ibcc_leader_record){
		.prefix = wire_get_be64(rec + PREFIX),
		.guid = wire_get_be64(rec + GUID),
		.lease_s = (uint32_t)wire_get_be64(rec + LEASE - 4),
		.since = wire_get_be64(rec + DATA64),
		.run = wire_get_be64(rec + DATA32),
	};
	read_name(r->name, rec + NAME);
	return wire_get_be64(rec + ID) == IBCC_LEADER_SERVICE_ID ? IBCC_LEADER_ONE
								 : IBCC_LEADER_REFUSED;
}
