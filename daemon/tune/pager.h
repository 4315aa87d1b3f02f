/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Long output goes through a pager if a person reads it, as git's does: $PAGER, or less. less ends
 * by itself if all fits on the screen (LESS=FRX unless it is set).
 */
#ifndef IBCC_TUNE_PAGER_H
#define IBCC_TUNE_PAGER_H

#include <stdbool.h>

/* Disables the pager. */
void tune_pager_refuse(void);
/* From here on stdout goes through the pager, if stdout is a terminal and there is a pager. */
void tune_pager_begin(void);
/* Columns of the terminal behind the pager; 0 without one. */
int tune_pager_columns(void);
/* Waits until the user has left the pager. */
void tune_pager_end(void);

#endif
