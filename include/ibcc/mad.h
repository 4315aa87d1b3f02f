/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Management datagrams: common header, classes, methods, status (IBA vol. 1, 13.4). */
#ifndef IBCC_MAD_H
#define IBCC_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IBCC_MAD_BYTES        256u
#define IBCC_MAD_HEADER_BYTES 24u
#define IBCC_MAD_DATA_OFFS    64u /* PerfMgt, CC (but its log) and SMP data */

enum ibcc_mad_class {
	IBCC_MAD_CLASS_SMP = 0x01,
	IBCC_MAD_CLASS_SA = 0x03, /* class version 2 */
	IBCC_MAD_CLASS_SMP_DIRECT = 0x81,
	IBCC_MAD_CLASS_PERF = 0x04,
	IBCC_MAD_CLASS_MELLANOX = 0x0a,
	IBCC_MAD_CLASS_CC = 0x21, /* class version 2, base version 1, QP1 */
};

/* Subnet management, by LID or by a directed route? */
static inline bool ibcc_mad_is_smp(const uint8_t *mad)
{
	return mad[1] == IBCC_MAD_CLASS_SMP || mad[1] == IBCC_MAD_CLASS_SMP_DIRECT;
}

enum ibcc_mad_method {
	IBCC_MAD_GET = 0x01,
	IBCC_MAD_SET = 0x02,
	IBCC_MAD_TRAP = 0x05,
	IBCC_MAD_REPORT = 0x06,
	IBCC_MAD_TRAP_REPRESS = 0x07,
	IBCC_MAD_GET_RESP = 0x81,
	IBCC_MAD_REPORT_RESP = 0x86,
};

/* Status codes of the common header; the most significant bit of a direct routed SMP's status word
 * is its direction and does not count.
 */
enum ibcc_mad_status {
	IBCC_MAD_STATUS_OK = 0x0000,
	IBCC_MAD_STATUS_BUSY = 0x0001,
	IBCC_MAD_STATUS_REDIRECT = 0x0002,
	IBCC_MAD_STATUS_BAD_VERSION = 0x0004,
	IBCC_MAD_STATUS_BAD_METHOD = 0x0008,
	IBCC_MAD_STATUS_BAD_ATTR = 0x000c,
	IBCC_MAD_STATUS_BAD_FIELD = 0x001c,
};
/* Any of these bits: the node has no such class version, method, attribute or field. */
#define IBCC_MAD_STATUS_REFUSED 0x001cu

struct ibcc_mad_header {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint64_t tid;
	uint16_t attr_id;
	uint32_t attr_mod;
};

/* Writes the 24 byte common header, bytes that depend on the class as zero; the rest of the
 * datagram is left alone.
 */
void ibcc_mad_header_pack(uint8_t *mad, const struct ibcc_mad_header *h);

/* Reads the common header. Any 256 bytes are accepted; the caller judges the fields. The direction
 * bit of a direct routed SMP is taken out of `status`.
 */
void ibcc_mad_header_unpack(const uint8_t *mad, struct ibcc_mad_header *h);

/* Starts a request: zeroes the datagram and writes a header with the right base and class version
 * for `mgmt_class`; tid is left 0 for the transport to fill.
 */
void ibcc_mad_request(uint8_t *mad, enum ibcc_mad_class mgmt_class, enum ibcc_mad_method method,
		      uint16_t attr_id, uint32_t attr_mod);

/* Words for a status code; never NULL, "unknown status" for codes that the specification lacks. */
const char *ibcc_mad_status_text(uint16_t status);

#endif
