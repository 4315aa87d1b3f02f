/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control settings of a whole fabric as one value: sized, copied, freed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/settings.h>

int ibcc_settings_init(struct ibcc_settings *s, const struct ibcc_topo *t)
{
	struct ibcc_endport_cc *ep = calloc(t->n_endports ? t->n_endports : 1, sizeof(*ep));

	if (!ep)
		return -ENOMEM;
	*s = (struct ibcc_settings){ .n = t->n_endports, .ep = ep };
	return 0;
}

void ibcc_settings_fini(struct ibcc_settings *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->ep && i < s->n; i++)
		free(s->ep[i].element);
	free(s->ep);
	*s = (struct ibcc_settings){ 0 };
}

int ibcc_settings_copy(struct ibcc_settings *dst, const struct ibcc_settings *src)
{
	struct ibcc_settings c = { .ep = calloc(src->n ? src->n : 1, sizeof(*c.ep)) };

	if (!c.ep)
		return -ENOMEM;
	for (; c.n < src->n; c.n++) {
		const struct ibcc_endport_cc *from = &src->ep[c.n];
		struct ibcc_endport_cc *to = &c.ep[c.n];

		*to = *from;
		to->element = NULL;
		to->n_element = 0;
		if (!from->element || !from->n_element)
			continue;
		to->element = calloc(from->n_element, sizeof(*to->element));
		if (!to->element) {
			ibcc_settings_fini(&c);
			return -ENOMEM;
		}
		memcpy(to->element, from->element, from->n_element * sizeof(*to->element));
		to->n_element = from->n_element;
	}
	*dst = c;
	return 0;
}

struct ibcc_cc_sw_port_element ibcc_settings_effective(const struct ibcc_endport_cc *sw,
						       unsigned int port)
{
	if (port < sw->n_element && sw->element[port].Valid)
		return sw->element[port];
	return (struct ibcc_cc_sw_port_element){
		.Threshold = sw->sw.Threshold,
		.Packet_Size = sw->sw.Packet_Size,
		.Cong_Parm_Marking_Rate = sw->sw.Marking_Rate,
	};
}
