/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is long goes through a pager where a person reads it, as git's does: $PAGER, or less, which
 * ends by itself when all fits on the screen (LESS=FRX unless it is set).
 */
#ifndef IBCC_TUNE_PAGER_H
#define IBCC_TUNE_PAGER_H

#include <stdbool.h>

/* There is to be none. */
void tune_pager_refuse(void);
/* From here on stdout goes through it, if it is a terminal, and there is a pager. */
void tune_pager_begin(void);
/* Columns of the terminal behind the pager; 0 without one. */
int tune_pager_columns(void);
/* Waits until the reader has left it. */
void tune_pager_end(void);

#endif
