/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an adapter of NVIDIA's says of its own congestion control algorithms: their names, their
 * parameters, and the default, least and greatest value of each. MADs have none of this, but the
 * register PPCC has, which mstreg (mstflint) and mlxreg (MFT) print on the adapter's host:
 *
 *	mstreg -d DEVICE --reg_name PPCC --get --op "cmd_type=0x5"
 *		--indexes "local_port=1,pnat=0,lp_msb=0,algo_slot=0,algo_param_index=3"
 *
 * Source: mstflint b9d9e844 (2026), GPL-2.0 or BSD: the register's fields in
 * tools_layouts/adb/prm/hca/ext/register_access_table.adb, node ppcc_reg_ext, and the table that is
 * printed in mlxreg/mlxreg_ui.cpp, printSentFieldsStandard(). That the first character of a text is
 * the most significant byte of text[0] is inferred from the order of bytes in registers. No output
 * of a device was seen.
 */
#ifndef IBCC_PPCC_H
#define IBCC_PPCC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/why.h>

#define IBCC_PPCC_SLOTS      16u
#define IBCC_PPCC_PARAMETERS 64u
#define IBCC_PPCC_TEXT_BYTES 220u /* the register's text, at most */

/* Values of prm, the permission. */
enum ibcc_ppcc_access { IBCC_PPCC_READ, IBCC_PPCC_WRITE, IBCC_PPCC_CLEAR };

struct ibcc_ppcc_parameter {
	/* Name and description; the name is empty if the input has no description of the parameter.
	 */
	char name[IBCC_PPCC_TEXT_BYTES + 1], about[IBCC_PPCC_TEXT_BYTES + 1];
	uint32_t initial, min, max; /* with a name */
	uint8_t access;             /* enum ibcc_ppcc_access, or 3: not known; with a name */
	bool has_value;
	uint32_t value; /* now */
};

struct ibcc_ppcc_algorithm {
	bool present; /* the input has something about it */
	char name[IBCC_PPCC_TEXT_BYTES + 1], about[IBCC_PPCC_TEXT_BYTES + 1]; /* empty: not there */
	uint16_t id; /* 0: the input has no list of algorithms, or the slot is empty */
	uint8_t major, minor;
	int8_t enabled; /* 0 or 1; -1: the input does not say */
	/* What the input has parameters up to; 0: nothing about any. */
	uint32_t n_parameters;
	struct ibcc_ppcc_parameter parameter[IBCC_PPCC_PARAMETERS];
};

struct ibcc_ppcc {
	unsigned int n_answers; /* of the tool that were read */
	struct ibcc_ppcc_algorithm slot[IBCC_PPCC_SLOTS];
};

/* Reads the output of one or many Gets, one after the other, in any order: as a script has put it
 * together, or `tail -n +1 FILE...` of files by whose names NVIDIA's support collectors say what
 * was asked. A line with "cmd_type" that is not in a table is taken for that: it may be the command
 * itself. Without it, what the register itself has counts. Anything else between the tables is
 * ignored, and so are Gets of other kinds. The text may have any bytes; names are clean afterwards.
 * *p is overwritten. Returns 0, or -EINVAL with "NAME:LINE:COLUMN: got X, want Y" in *why: a table
 * is damaged, or there is none.
 */
int ibcc_ppcc_read(struct ibcc_ppcc *p, const char *name, const char *text, size_t len,
		   struct ibcc_why *why);

#endif
