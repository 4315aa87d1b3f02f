/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link widths, speeds and the time that packets take on them. */
#ifndef IBCC_LINK_H
#define IBCC_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* Local and remote headers and checksums of a middle RC packet:
 * LRH 8 + BTH 12 + ICRC 4 + VCRC 2 (IBA vol. 1, chapters 7 to 9).
 */
#define IBCC_LINK_HEADER_BYTES 26u

/* The part of them that PortXmitData and PortRcvData do not count. */
#define IBCC_LINK_VCRC_BYTES 2u

/* Flow control counts blocks of 64 bytes (IBA vol. 1, 7.9). */
#define IBCC_LINK_CREDIT_BYTES 64u

/* MTU of a link where a file says none. */
#define IBCC_LINK_DEFAULT_MTU_BYTES 2048u

enum ibcc_link_speed {
	IBCC_LINK_SPEED_NONE,
	IBCC_LINK_SPEED_SDR,
	IBCC_LINK_SPEED_DDR,
	IBCC_LINK_SPEED_QDR,
	IBCC_LINK_SPEED_FDR10,
	IBCC_LINK_SPEED_FDR,
	IBCC_LINK_SPEED_EDR,
	IBCC_LINK_SPEED_HDR,
	IBCC_LINK_SPEED_NDR,
	IBCC_LINK_SPEED_XDR,
};

/* Data rate of a link in Mb/s, after line coding (4X QDR: 32000, 4X FDR: 54545).
 * lanes is 1, 2, 4, 8 or 12. Returns 0 for IBCC_LINK_SPEED_NONE or other lane counts.
 */
uint32_t ibcc_link_rate_mbps(unsigned int lanes, enum ibcc_link_speed speed);

/* Decodes PortInfo's LinkWidthActive (1, 2, 4, 8, 16) to lanes (1, 4, 8, 12, 2); 0 if unknown. */
unsigned int ibcc_link_width_lanes(uint8_t link_width_active);

/* XDR is not in LinkSpeedExtActive but in LinkSpeedExtActive2; this stands for it as the next bit.
 */
#define IBCC_LINK_SPEED_EXT_XDR 16u

/* Decodes PortInfo's LinkSpeedActive, LinkSpeedExtActive (0 where not supported) and the vendor's
 * FDR10 flag to a speed (IBA vol. 1, 14.2.5.6). The extended speed wins where it is not 0. Codes
 * that name no single speed give IBCC_LINK_SPEED_NONE.
 */
enum ibcc_link_speed ibcc_link_speed_decode(uint8_t active, uint8_t ext_active, int fdr10);

/* The speed at which this number of lanes carries rate_mbps; IBCC_LINK_SPEED_NONE: no speed has it.
 */
enum ibcc_link_speed ibcc_link_speed_of(unsigned int lanes, uint32_t rate_mbps);

/* What a port can run at. Both masks are 0 where that is not known. */
struct ibcc_link_caps {
	uint8_t widths;  /* coded as LinkWidthSupported */
	uint16_t speeds; /* bit s: enum ibcc_link_speed s */
};
#define IBCC_LINK_WIDTHS 31u    /* all widths that the IBA knows */
#define IBCC_LINK_SPEEDS 0x3feu /* all speeds, from SDR to XDR */

/* PortInfo's masks of what a port supports, or of what is enabled there (IBA vol. 1, 14.2.5.6):
 * LinkWidth, LinkSpeed, LinkSpeedExt, and LinkSpeedExt2, which came with XDR.
 */
struct ibcc_link_masks {
	uint8_t width, speed, ext, ext2;
};

/* What a port can run at: what it supports, without what an administrator has disabled. An enabled
 * mask of 0 disables nothing, since some ports do not report it.
 */
struct ibcc_link_caps ibcc_link_caps_decode(const struct ibcc_link_masks *supported,
					    const struct ibcc_link_masks *enabled);

/* The greatest width and the highest speed that both ports can run at. False: not known, or they
 * have none in common.
 */
bool ibcc_link_best(const struct ibcc_link_caps *a, const struct ibcc_link_caps *b,
		    unsigned int *lanes, enum ibcc_link_speed *speed);

/* Short name of a speed, "QDR"; never NULL. */
const char *ibcc_link_speed_name(enum ibcc_link_speed speed);

/* Decodes an MTU code (1..5) to bytes (256..4096); 0 if unknown. */
uint16_t ibcc_link_mtu_bytes(uint8_t mtu_code);

/* Time in picoseconds that `bytes` take on a link of `rate_mbps`, rounded up. rate_mbps > 0. */
uint64_t ibcc_link_packet_ps(uint32_t bytes, uint32_t rate_mbps);

/* As ibcc_link_packet_ps(), but rounded to nearest; 0 if rate_mbps is 0. */
uint64_t ibcc_link_bytes_ps(uint32_t rate_mbps, uint32_t bytes);

#endif
