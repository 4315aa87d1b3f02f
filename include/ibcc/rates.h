/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates in sentences. Whatever computes has them in Mb/s (10^6 bits a second), and people read
 * another unit. */
#ifndef IBCC_RATES_H
#define IBCC_RATES_H

#include <stdbool.h>
#include <stddef.h>

#define IBCC_RATE_BYTES 32u

/* A rate without its unit, in MB/s (10^6 bytes a second, one decimal) or Gb/s (two). */
const char *ibcc_rate_text(double mbps, bool in_gbps, char *buf, size_t len);
const char *ibcc_rate_unit(bool in_gbps);
/* Copies a text; its rates in Mb/s, as "15141 of 32000 Mb/s", are in the other unit there. */
const char *ibcc_rates_in(const char *text, bool in_gbps, char *buf, size_t len);

#endif
