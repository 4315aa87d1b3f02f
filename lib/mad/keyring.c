/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The nodes' keys, from the files that OpenSM writes (guid2cckey, guid2mkey), by LID (keyring.h).
 * Files are read again when they change. The rest of the program never sees the keys: it uses a
 * random mark in their place, for which keyring_transport.c puts in the key of the node.
 */
#include <ibcc/keyring.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lib/mad/keyfile.h"

#define PATH_BYTES 320u
#define LIDS       (IBCC_LID_MAX + 1u)

/* One of the files. */
struct source {
	const char *name;
	struct ibcc_keyfile keys;
	struct stat seen; /* the file's data when it was read last */
	bool known;
};

struct ibcc_keyring {
	char dir[PATH_BYTES - 32];
	uint64_t default_key, mark;
	struct source cc, m;
	uint64_t *cc_key, *m_key; /* by LID */
	uint64_t common_m_key;    /* the key of all nodes in the file; 0: they differ, or none */
};

struct ibcc_keyring *ibcc_keyring_new(const char *dir, uint64_t default_key)
{
	struct ibcc_keyring *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	snprintf(k->dir, sizeof(k->dir), "%s", dir);
	k->default_key = default_key;
	k->cc.name = "guid2cckey";
	k->m.name = "guid2mkey";
	/* The mark is random, so that no node has it as its key. */
	if (getrandom(&k->mark, sizeof(k->mark), 0) != sizeof(k->mark))
		k->mark = (uint64_t)(uintptr_t)k;
	k->mark |= 1;
	k->cc_key = calloc(LIDS, sizeof(*k->cc_key));
	k->m_key = calloc(LIDS, sizeof(*k->m_key));
	if (k->cc_key && k->m_key)
		return k;
	ibcc_keyring_free(k);
	return NULL;
}

void ibcc_keyring_free(struct ibcc_keyring *k)
{
	if (!k)
		return;
	ibcc_keyfile_fini(&k->cc.keys);
	ibcc_keyfile_fini(&k->m.keys);
	if (k->cc_key)
		explicit_bzero(k->cc_key, LIDS * sizeof(*k->cc_key));
	if (k->m_key)
		explicit_bzero(k->m_key, LIDS * sizeof(*k->m_key));
	free(k->cc_key);
	free(k->m_key);
	explicit_bzero(k, sizeof(*k));
	free(k);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads a file if it is new. It is looked up by name each time, so a file that replaces it is
 * noticed. `needed`: a missing file is an error even if it was never seen. Returns 1: read; 0:
 * unchanged; or -errno.
 */
static int check_file(struct ibcc_keyring *k, struct source *s, bool needed, struct ibcc_why *why)
{
	struct ibcc_keyfile fresh = { 0 };
	char path[PATH_BYTES];
	struct stat st;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", k->dir, s->name);
	if (stat(path, &st)) {
		rc = -errno;
		if (rc == -ENOENT && !needed && !s->known)
			return 0;
		return ibcc_why_set(
			why, rc, "%s: %s%s", path, strerror(-rc),
			s->known ? "; the daemon continues with the keys that it read before" : "");
	}
	if (s->known && same_file(&st, &s->seen))
		return 0;
	rc = ibcc_keyfile_read(path, &fresh, why);
	if (rc)
		return rc;
	ibcc_keyfile_fini(&s->keys);
	s->keys = fresh;
	s->seen = st;
	s->known = true;
	return 1;
}

static uint64_t common_key(const struct ibcc_keyfile *f)
{
	for (uint32_t i = 1; i < f->n; i++)
		if (f->entry[i].key != f->entry[0].key)
			return 0;
	return f->n ? f->entry[0].key : 0;
}

int ibcc_keyring_check(struct ibcc_keyring *k, struct ibcc_why *why)
{
	int cc = check_file(k, &k->cc, true, why);
	int m = check_file(k, &k->m, false, cc < 0 ? NULL : why);

	k->common_m_key = common_key(&k->m.keys);
	if (cc < 0 && !k->cc.known)
		return cc;
	/* One new file is enough, whatever became of the other one. */
	if (cc > 0 || m > 0)
		return 1;
	return cc < 0 ? cc : m;
}

void ibcc_keyring_address(struct ibcc_keyring *k, const struct ibcc_topo *t)
{
	memset(k->cc_key, 0, LIDS * sizeof(*k->cc_key));
	memset(k->m_key, 0, LIDS * sizeof(*k->m_key));
	for (uint32_t lid = 1; lid < LIDS; lid++) {
		uint32_t port = t->lid_port[lid];
		const struct ibcc_topo_node *n;
		uint64_t guid;

		if (port == IBCC_NONE)
			continue;
		n = &t->node[t->port[port].node];
		guid = n->type == IBCC_NODE_SWITCH ? n->guid : t->port[port].guid;
		if (!ibcc_keyfile_find(&k->cc.keys, guid, &k->cc_key[lid]))
			k->cc_key[lid] = k->default_key;
		ibcc_keyfile_find(&k->m.keys, guid, &k->m_key[lid]);
	}
}

uint64_t ibcc_keyring_mark(const struct ibcc_keyring *k)
{
	return k->mark;
}

uint64_t ibcc_keyring_cc_key(const struct ibcc_keyring *k, uint16_t lid)
{
	return lid < LIDS ? k->cc_key[lid] : k->default_key;
}

uint64_t ibcc_keyring_m_key(const struct ibcc_keyring *k, uint16_t lid)
{
	return lid < LIDS ? k->m_key[lid] : k->common_m_key;
}
