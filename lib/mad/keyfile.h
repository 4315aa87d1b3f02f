/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A file of GUIDs and keys as OpenSM writes it. Private to lib/mad. */
#ifndef IBCC_MAD_KEYFILE_H
#define IBCC_MAD_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/keyring.h>
#include <ibcc/why.h>

/* Keys in the order of their GUIDs; all zero is an empty file. */
struct ibcc_keyfile {
	uint32_t n, cap;
	struct ibcc_keyfile_entry {
		uint64_t guid, key;
	} * entry; /* owned */
};
void ibcc_keyfile_fini(struct ibcc_keyfile *f);

/* Reads lines "0xGUID 0xKEY"; empty ones are passed over. If two lines have one GUID, one of them
 * counts. On failure *f does not change: -EINVAL (`why` names the line, never its contents),
 * -ENOMEM, or the reason why the file cannot be read.
 */
int ibcc_keyfile_read(const char *path, struct ibcc_keyfile *f, struct ibcc_why *why);
bool ibcc_keyfile_find(const struct ibcc_keyfile *f, uint64_t guid, uint64_t *key);

/* The M_Key of the node at a LID; 0: none. A node on a directed route (LID 0xffff) is not known:
 * the result is the key that all nodes have, if they have the same one.
 */
uint64_t ibcc_keyring_m_key(const struct ibcc_keyring *k, uint16_t lid);

#endif
