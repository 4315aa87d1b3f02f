/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A key for each node, from the files that OpenSM keeps: CC_Keys in guid2cckey, M_Keys in
 * guid2mkey, lines of a port's GUID (a switch's is its node's) and a key.
 *
 * The rest of the program works with one CC_Key, the mark, which stands for whatever key a node
 * wants: a transport puts the nodes' own keys in its place, and the mark in the place of theirs. No
 * key is ever printed or passed on.
 */
#ifndef IBCC_KEYRING_H
#define IBCC_KEYRING_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>
#include <ibcc/transport.h>
#include <ibcc/why.h>

struct ibcc_keyring;

/* Keys are those of the files in a folder; for nodes that are not in them, default_key (0: none).
 * Nothing is read yet. NULL without memory.
 */
struct ibcc_keyring *ibcc_keyring_new(const char *dir, uint64_t default_key);
void ibcc_keyring_free(struct ibcc_keyring *k);

/* Looks whether the files are others than those last read (they are replaced, not written over),
 * and reads them. Returns 1 if there are other keys now, 0 if not, or a negative errno: there are
 * not, and a file cannot be read. What was read of it before stays, and *why says so, also with 1
 * where that is the other file. -EINVAL: a line is none of a GUID and a key.
 */
int ibcc_keyring_check(struct ibcc_keyring *k, struct ibcc_why *why);

/* Which LID has which key; to be called for each topology, and when keys are others. */
void ibcc_keyring_address(struct ibcc_keyring *k, const struct ibcc_topo *t);

/* Never 0, and no node's. */
uint64_t ibcc_keyring_mark(const struct ibcc_keyring *k);
/* The CC_Key of the node at a LID, 0: none. */
uint64_t ibcc_keyring_cc_key(const struct ibcc_keyring *k, uint16_t lid);

/* A transport that has keys put in and taken out; SMPs get M_Keys, those by directed routes the one
 * that all nodes of the file have. Owns `inner`, also when
 * it fails; the keyring must live longer. NULL without memory or without `inner`.
 */
struct ibcc_transport *ibcc_keyring_transport(const struct ibcc_keyring *k,
					      struct ibcc_transport *inner);

#endif
