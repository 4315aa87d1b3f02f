/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The administrator's own congestion control policy file of NVIDIA's OpenSM (its option
 * congestion_control_policy_file): numbers in it are changed, and nothing else.
 *
 * Of the file's grammar one block is public, in NVIDIA's UFM Enterprise User Manual, "OpenSM
 * Configuration" (releases 6.17 to 6.22, which agree):
 *
 *	ca_algo_import_start
 *	    algo_start
 *	        algo_id:1
 *	        algo_file_name: NAME
 *	        parameters: (NAME,value),(NAME,value)
 *	    algo_end
 *	ca_algo_import_end
 *
 * Lines that begin with # are comments there. Everything else is taken for what it looks like, and
 * only if there is one way to read it: "NAME_start" and "NAME_end", alone on a line, are the
 * borders of a block; "KEY: NUMBER", "KEY=NUMBER" or "KEY NUMBER", alone on a line, is a number; #
 * behind a blank begins a comment.
 */
#ifndef IBCC_POLICY_H
#define IBCC_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/why.h>
#include <ibcc/yaml.h>

/* Bytes that a file may have. */
#define IBCC_POLICY_BYTES_MAX (1u << 20)
#define IBCC_POLICY_NAME_MAX  64u

/* What is known of the numbers that a key can have. */
enum ibcc_policy_range {
	/* It is a field of NVIDIA's MADs: its range was checked. */
	IBCC_POLICY_RANGE_FIELD,
	/* A parameter of a programmable algorithm, whose file (algo_file_name) has the range. An
	 * adapter ignores a number out of it, and does not report that. Here 0 to 2^32 - 1, what
	 * the MAD has room for.
	 */
	IBCC_POLICY_RANGE_ALGORITHM,
	IBCC_POLICY_RANGE_UNKNOWN, /* 0 to 2^32 - 1 */
};

struct ibcc_policy_change {
	/* What is asked for. Names are compared without regard to case. */
	char key[IBCC_POLICY_NAME_MAX];
	/* The key is in a block of this name, or in a block that is in one; "": anywhere. */
	char block[IBCC_POLICY_NAME_MAX];
	/* That block has a line "BLOCK_id: ID" or "BLOCK_name: ID"; "": any. */
	char id[IBCC_POLICY_NAME_MAX];
	uint64_t value;

	/* What was found, by ibcc_policy_patch(). */
	uint64_t old;
	size_t at; /* offset of the old number */
	size_t old_len;
	unsigned int line, col; /* of the number, from 1; col counts bytes */
	enum ibcc_policy_range range;
};

/* Reads "KEY=NUMBER", "BLOCK/KEY=NUMBER" or "BLOCK:ID/KEY=NUMBER" (decimal). -EINVAL with *why. */
int ibcc_policy_read_change(const char *arg, struct ibcc_policy_change *c, struct ibcc_why *why);

/* Makes all of `n` changes in a policy file's text of `len` bytes, or none. `file` names it in
 * errors. All bytes but the digits of these numbers stay as they are.
 *
 * A change is refused, with its place where it has one, if its key is not there, stands only in a
 * comment, is there more than once, is in a line that cannot be read, has no whole decimal number,
 * names something (as algo_id does), or if the new number is out of the key's range. The whole file
 * is refused if its blocks do not fit into each other, if it is binary, or longer than
 * IBCC_POLICY_BYTES_MAX.
 *
 * Ranges are those of NVIDIA's MADs: widths of OpenSM 5.x's headers (see ibcc_vcc_fields()), and
 * narrower where Mellanox/mstflint (mlxconfig_host.db, register_access_table.adb) says so. A "min"
 * may not become greater than the "max" of its block.
 *
 * Returns 0 and the new text, which the caller frees, with a NUL behind its *out_len bytes; -EINVAL
 * with all reasons in *e; -ENOMEM.
 */
int ibcc_policy_patch(const char *file, const char *text, size_t len, struct ibcc_policy_change *c,
		      size_t n, char **out, size_t *out_len, struct ibcc_yaml_errors *e);

/* A field of NVIDIA's MADs whose name is a key in the file. */
struct ibcc_policy_number {
	const char *key;       /* as the field is called */
	const char *attribute; /* whose field it is, such as "HCARPParameters" */
	/* Whether the file has the key once, with a number alone in a line. Otherwise nothing below
	 * is known.
	 */
	bool is_known;
	uint64_t value;
	unsigned int line;
};
#define IBCC_POLICY_NUMBERS_MAX 48u

/* Finds the numbers of a file that can be compared with what devices report: parameters of adapters
 * (HCARPParameters, HCANPParameters), and "profileN_..." of switch ports (PortProfileSettings).
 * Returns as ibcc_policy_patch() does, with *n numbers.
 */
int ibcc_policy_numbers(const char *file, const char *text, size_t len,
			struct ibcc_policy_number number[IBCC_POLICY_NUMBERS_MAX], size_t *n,
			struct ibcc_yaml_errors *e);

#endif
