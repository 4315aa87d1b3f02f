/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer of ibcc-tune report as a page. The page omits what the answer does not have. */
#ifndef IBCC_FABRIC_PAGE_H
#define IBCC_FABRIC_PAGE_H

#include <stdio.h>

#include <jansson.h>

/* Writes the whole page. */
void ibcc_fabric_page(FILE *out, const json_t *report);

/* Writes the sections between head and end, for pages with more content: see ibcc/page.h. */
void ibcc_fabric_page_sections(FILE *out, const json_t *report);

#endif
