/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keys of the nodes, from OpenSM's files. */
#include <errno.h>

#include <ibcc/text.h>

#include "daemon/service/service_impl.h"

int ibcc_service_new_keys(struct ibcc_service *s, const struct ibcc_config *config, uint64_t cc_key)
{
	struct ibcc_keyring *k = NULL;

	if (config->key_dir[0]) {
		k = ibcc_keyring_new(config->key_dir, cc_key);
		if (!k)
			return -ENOMEM;
	}
	ibcc_keyring_free(s->keyring);
	s->keyring = k;
	s->keys_read = false;
	s->default_key = cc_key;
	s->cc_key = k ? ibcc_keyring_mark(k) : cc_key;
	s->keys_trouble.text[0] = '\0';
	return 0;
}

int ibcc_service_look_at_keys(struct ibcc_service *s, struct ibcc_why *why)
{
	int rc;

	s->keys_trouble.text[0] = '\0';
	if (!s->keyring)
		return 0;
	rc = ibcc_keyring_check(s->keyring, &s->keys_trouble);
	/* A node counts every request without its key, so we send none until the keys are read. */
	if (rc < 0 && !s->keys_read)
		return ibcc_why_set(why, rc, "key_dir: %s", s->keys_trouble.text);
	s->keys_read = true;
	ibcc_keyring_address(s->keyring, s->cycle.topo);
	if (rc > 0) {
		s->cycle.actual_known = false;
		ibcc_readback_new_keys(&s->cycle.actual);
		s->cycle.vendor.again_ns = 0;
	}
	return 0;
}

bool ibcc_service_key_trouble(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	const char *option = s->keyring ? "key_dir" : "cc_key_file";
	uint32_t n = 0, first = 0;

	if (s->keys_trouble.text[0]) {
		ibcc_why_set(why, 0, "key_dir: %s", s->keys_trouble.text);
		return true;
	}
	for (uint32_t i = 0; c && c->actual_known && i < c->actual.n; i++) {
		const struct ibcc_endport_cc *ep = &c->actual.ep[i];
		enum ibcc_cc_support can = ibcc_endport_support_back(ep);

		/* The node is silent here, though it answers other requests. */
		if (can != IBCC_CC_KEY_REFUSED && (can != IBCC_CC_UNKNOWN || ep->err != -ETIMEDOUT))
			continue;
		if (!n++)
			first = i;
	}
	if (n)
		ibcc_why_set(why, 0,
			     "%u node%s probably want%s another CC_Key: \"%s\"%s; see %s in the "
			     "configuration",
			     n, ibcc_text_plural(n, "", "s"), ibcc_text_plural(n, "s", ""),
			     c->topo->node[c->topo->port[c->topo->endport[first]].node].desc,
			     n > 1 ? " and others" : "", option);
	return n;
}
