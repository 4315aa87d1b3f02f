/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ibcc-tune report answers, as a page; what is missing in it is left out. */
#ifndef IBCC_FABRIC_PAGE_H
#define IBCC_FABRIC_PAGE_H

#include <stdio.h>

#include <jansson.h>

/* The whole page. */
void ibcc_fabric_page(FILE *out, const json_t *report);

/* What is between its head and its end, for pages that have more to say: see ibcc/page.h. */
void ibcc_fabric_page_sections(FILE *out, const json_t *report);

#endif
