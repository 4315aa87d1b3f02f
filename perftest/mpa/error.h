/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why a stream was ended: the errors that RFC 5044, 5041 and 5040 require a receiver to detect. */
#ifndef PERFTEST_MPA_ERROR_H
#define PERFTEST_MPA_ERROR_H

enum ibcc_mpa_error {
	IBCC_MPA_OK,
	/* MPA */
	IBCC_MPA_BAD_STARTUP,  /* no MPA request or reply frame */
	IBCC_MPA_BAD_REVISION, /* another revision than 1 */
	IBCC_MPA_REJECTED,     /* the peer does not want us */
	IBCC_MPA_BAD_LENGTH,   /* too short for a header, or longer than an FPDU may be */
	IBCC_MPA_BAD_MARKER,   /* does not point to the header of its FPDU */
	IBCC_MPA_BAD_CRC,
	IBCC_MPA_BAD_GUESS, /* what was taken for an FPDU, out of order, was not one */
	IBCC_MPA_TRUNCATED, /* the stream ended within an FPDU */
	/* DDP */
	IBCC_MPA_BAD_DDP_VERSION,
	IBCC_MPA_BAD_STAG,   /* no such region, or it does not allow this access */
	IBCC_MPA_BAD_BOUNDS, /* not within the region */
	IBCC_MPA_BAD_QUEUE,  /* no such queue */
	IBCC_MPA_NO_BUFFER,  /* an MSN without a posted buffer */
	IBCC_MPA_BAD_OFFSET, /* not the next offset of its message */
	IBCC_MPA_TOO_LONG,   /* longer than the posted buffer */
	/* RDMAP */
	IBCC_MPA_BAD_RDMAP_VERSION,
	IBCC_MPA_BAD_OPCODE,  /* no such opcode, or one on another queue or model than its own */
	IBCC_MPA_BAD_REQUEST, /* a read request of another size than 28 octets */
	IBCC_MPA_TERMINATED,  /* terminated by the peer */
	IBCC_MPA_N_ERRORS,
};

/* The error in a few words, such as "wrong CRC". */
const char *ibcc_mpa_error_name(enum ibcc_mpa_error e);

#endif
