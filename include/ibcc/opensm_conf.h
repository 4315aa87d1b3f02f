/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM's configuration file, as far as it says whether NVIDIA's OpenSM manages NVIDIA's
 * congestion control. It is read as OpenSM reads it (osm_subn_parse_conf_file() and clean_val() in
 * opensm/osm_subnet.c): a line is "NAME VALUE", # begins a comment, and a value may have blanks in
 * it and quotes around it.
 */
#ifndef IBCC_OPENSM_CONF_H
#define IBCC_OPENSM_CONF_H

#include <stdbool.h>
#include <stddef.h>

struct ibcc_opensm_conf {
	/* The value of mlnx_congestion_control: 0 leaves the control alone, 1 switches it off, 2
	 * switches it on. Empty: the file does not have it, which means 0.
	 */
	char mlnx_congestion_control[16];
	/* congestion_control_policy_file; empty: none, or "(null)". */
	char policy_file[256];
};

/* Reads a file's text of `len` bytes. The last line with a name counts; an empty mode does not, as
 * OpenSM takes it for no number. Returns 0; -EILSEQ if this is no text, so that it says nothing.
 */
int ibcc_opensm_conf_read(const char *text, size_t len, struct ibcc_opensm_conf *c);

/* Does OpenSM, with this file, leave NVIDIA's congestion control to others? */
static inline bool ibcc_opensm_conf_is_free(const struct ibcc_opensm_conf *c)
{
	return !c->policy_file[0] &&
	       (!c->mlnx_congestion_control[0] ||
		(c->mlnx_congestion_control[0] == '0' && !c->mlnx_congestion_control[1]));
}

#endif
