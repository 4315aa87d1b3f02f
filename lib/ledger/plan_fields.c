/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fields in which a change's old and new data differ, by their names in annex A10 or in
 * NVIDIA's headers, for people and JSON.
 */
#include <stdio.h>
#include <string.h>

#include <ibcc/plan.h>
#include <ibcc/vendor_cc.h>

/* The function that gets the fields, and its last result: non-zero ends the walk. */
struct walk {
	int (*fn)(const struct ibcc_field_change *f, void *arg);
	void *arg;
	int ret;
};

static void report(struct walk *w, const struct ibcc_field_change *f)
{
	if (!w->ret)
		w->ret = w->fn(f, w->arg);
}

static void number(struct walk *w, const char *field, int sl, int index, uint32_t old, uint32_t new)
{
	struct ibcc_field_change f = { .field = field, .sl = sl, .index = index };

	if (old == new)
		return;
	snprintf(f.old_text, sizeof(f.old_text), "%u", old);
	snprintf(f.new_text, sizeof(f.new_text), "%u", new);
	report(w, &f);
}

/* A mask of ports as "1-4,7", or, if that is too long, all bits as a hexadecimal number. */
static void mask_text(const struct ibcc_cc_port_mask *m, char *text, size_t len)
{
	size_t n = 0;

	text[0] = 0;
	for (unsigned int p = 0; p < 256 && n < len; p++) {
		unsigned int last = p;

		if (!ibcc_cc_mask_test(m, p))
			continue;
		while (last < 255 && ibcc_cc_mask_test(m, last + 1))
			last++;
		n += (size_t)snprintf(text + n, len - n, last > p ? "%s%u-%u" : "%s%u",
				      n ? "," : "", p, last);
		p = last;
	}
	if (!n)
		snprintf(text, len, "none");
	if (n < len)
		return;
	n = (size_t)snprintf(text, len, "0x");
	for (unsigned int i = 0; i < sizeof(m->byte) && n < len; i++)
		n += (size_t)snprintf(text + n, len - n, "%02x", m->byte[i]);
}

static void mask(struct walk *w, const char *field, const struct ibcc_cc_port_mask *old,
		 const struct ibcc_cc_port_mask *new)
{
	struct ibcc_field_change f = { .field = field, .sl = -1, .index = -1 };

	if (!memcmp(old, new, sizeof(*old)))
		return;
	mask_text(old, f.old_text, sizeof(f.old_text));
	mask_text(new, f.new_text, sizeof(f.new_text));
	report(w, &f);
}

static void switch_fields(struct walk *w, const uint8_t *old_mad, const uint8_t *new_mad)
{
	struct ibcc_cc_sw_setting o, n;

	ibcc_cc_sw_setting_unpack(old_mad, &o);
	ibcc_cc_sw_setting_unpack(new_mad, &n);
	mask(w, "Victim_Mask", &o.Victim_Mask, &n.Victim_Mask);
	mask(w, "Credit_Mask", &o.Credit_Mask, &n.Credit_Mask);
	number(w, "Threshold", -1, -1, o.Threshold, n.Threshold);
	number(w, "Packet_Size", -1, -1, o.Packet_Size, n.Packet_Size);
	number(w, "CS_Threshold", -1, -1, o.CS_Threshold, n.CS_Threshold);
	number(w, "CS_ReturnDelay", -1, -1, o.CS_ReturnDelay, n.CS_ReturnDelay);
	number(w, "Marking_Rate", -1, -1, o.Marking_Rate, n.Marking_Rate);
}

static void switch_port_fields(struct walk *w, const struct ibcc_change *c, const uint8_t *old_mad,
			       const uint8_t *new_mad)
{
	unsigned int size = c->port_block ? c->port_block : IBCC_CC_SW_PORT_BLOCK_121;

	for (unsigned int slot = 0; slot < size && slot < IBCC_CC_SW_PORT_BLOCK_13; slot++) {
		int port = (int)((c->attr_mod & 255) * size + slot);
		struct ibcc_cc_sw_port_element o, n;

		ibcc_cc_sw_port_element_unpack(old_mad, slot, &o);
		ibcc_cc_sw_port_element_unpack(new_mad, slot, &n);
		number(w, "Valid", -1, port, o.Valid, n.Valid);
		number(w, "Control_Type", -1, port, o.Control_Type, n.Control_Type);
		number(w, "Threshold", -1, port, o.Threshold, n.Threshold);
		number(w, "Packet_Size", -1, port, o.Packet_Size, n.Packet_Size);
		number(w, "Cong_Parm_Marking_Rate", -1, port, o.Cong_Parm_Marking_Rate,
		       n.Cong_Parm_Marking_Rate);
	}
}

static void ca_fields(struct walk *w, const uint8_t *old_mad, const uint8_t *new_mad)
{
	struct ibcc_cc_ca_setting o, n;

	ibcc_cc_ca_setting_unpack(old_mad, &o);
	ibcc_cc_ca_setting_unpack(new_mad, &n);
	number(w, "Port_Control", -1, -1, o.Port_Control, n.Port_Control);
	for (int sl = 0; sl < (int)IBCC_CC_SLS; sl++) {
		number(w, "CCTI_Timer", sl, -1, o.sl[sl].CCTI_Timer, n.sl[sl].CCTI_Timer);
		number(w, "CCTI_Increase", sl, -1, o.sl[sl].CCTI_Increase, n.sl[sl].CCTI_Increase);
		number(w, "Trigger_Threshold", sl, -1, o.sl[sl].Trigger_Threshold,
		       n.sl[sl].Trigger_Threshold);
		number(w, "CCTI_Min", sl, -1, o.sl[sl].CCTI_Min, n.sl[sl].CCTI_Min);
	}
}

/* Delays of a run of entries in packet times: "2 packet times", or "0 .. 2 packet times". */
static void delays_text(const struct ibcc_cct *cct, unsigned int a, unsigned int b, char *text,
			size_t len)
{
	double first = ibcc_cct_entry_delay_milli(cct->entry[a]) / 1000.0;
	double last = ibcc_cct_entry_delay_milli(cct->entry[b]) / 1000.0;

	if (cct->entry[a] == cct->entry[b])
		snprintf(text, len, "%g packet times", first);
	else
		snprintf(text, len, "%g .. %g packet times", first, last);
}

static void table_run(struct walk *w, const struct ibcc_cct *o, const struct ibcc_cct *n,
		      unsigned int a, unsigned int b)
{
	char name[24];
	struct ibcc_field_change f = { .field = name, .sl = -1, .index = (int)a };

	if (a == b)
		snprintf(name, sizeof(name), "CCT[%u]", a);
	else
		snprintf(name, sizeof(name), "CCT[%u..%u]", a, b);
	delays_text(o, a, b, f.old_text, sizeof(f.old_text));
	delays_text(n, a, b, f.new_text, sizeof(f.new_text));
	report(w, &f);
}

static void table_fields(struct walk *w, uint32_t block, const uint8_t *old_mad,
			 const uint8_t *new_mad)
{
	struct ibcc_cct o = { 0 }, n = { 0 };
	uint16_t old_limit, new_limit;
	unsigned int i = block * IBCC_CCT_BLOCK_ENTRIES;
	unsigned int end = i + IBCC_CCT_BLOCK_ENTRIES;

	if (block >= IBCC_CCT_MAX_BLOCKS)
		return;
	ibcc_cc_cct_unpack(old_mad, block, &o, &old_limit);
	ibcc_cc_cct_unpack(new_mad, block, &n, &new_limit);
	number(w, "CCTI_Limit", -1, -1, old_limit, new_limit);
	while (i < end) {
		unsigned int first = i;

		while (i < end && o.entry[i] != n.entry[i])
			i++;
		if (i > first)
			table_run(w, &o, &n, first, i - 1);
		else
			i++;
	}
}

/* The fields of CongestionKeyInfo. Keys are secrets: that they differ is shown, not what they are.
 */
static void key_fields(struct walk *w, const uint8_t *old_mad, const uint8_t *new_mad)
{
	struct ibcc_field_change f = { .field = "CC_Key",
				       .sl = -1,
				       .index = -1,
				       .old_text = "hidden",
				       .new_text = "another" };
	struct ibcc_cc_key_info o, n;

	ibcc_cc_key_info_unpack(old_mad, &o);
	ibcc_cc_key_info_unpack(new_mad, &n);
	if (o.CC_Key != n.CC_Key)
		report(w, &f);
	number(w, "CC_KeyProtectBit", -1, -1, o.CC_KeyProtectBit, n.CC_KeyProtectBit);
	number(w, "CC_KeyLeasePeriod", -1, -1, o.CC_KeyLeasePeriod, n.CC_KeyLeasePeriod);
}

unsigned int ibcc_plan_field_port(const struct ibcc_change *c, const struct ibcc_field_change *f)
{
	bool per_port = c->attr_id == IBCC_CC_ATTR_SW_PORT_SETTING ||
			c->attr_id == IBCC_VCC_ATTR_SW_PROFILE;

	return per_port && f->index >= 0 ? (unsigned int)f->index : c->port;
}

/* The fields of PortProfileSettings, by NVIDIA's names. */
static void profile_fields(struct walk *w, const struct ibcc_change *c)
{
	const struct ibcc_vcc_field *f;
	unsigned int n;

	f = ibcc_vcc_fields(c->attr_id, &n);
	for (unsigned int i = 0; i < n; i++)
		number(w, f[i].name, -1, (int)c->attr_mod, ibcc_vcc_field_get(c->old_data, &f[i]),
		       ibcc_vcc_field_get(c->new_data, &f[i]));
}

int ibcc_plan_fields(const struct ibcc_change *c,
		     int (*fn)(const struct ibcc_field_change *f, void *arg), void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };
	uint8_t old_mad[IBCC_MAD_BYTES] = { 0 }, new_mad[IBCC_MAD_BYTES] = { 0 };

	memcpy(old_mad + IBCC_MAD_DATA_OFFS, c->old_data, sizeof(c->old_data));
	memcpy(new_mad + IBCC_MAD_DATA_OFFS, c->new_data, sizeof(c->new_data));
	if (c->attr_id == IBCC_CC_ATTR_KEY_INFO)
		key_fields(&w, old_mad, new_mad);
	else if (c->attr_id == IBCC_CC_ATTR_SW_SETTING)
		switch_fields(&w, old_mad, new_mad);
	else if (c->attr_id == IBCC_CC_ATTR_SW_PORT_SETTING)
		switch_port_fields(&w, c, old_mad, new_mad);
	else if (c->attr_id == IBCC_CC_ATTR_CA_SETTING)
		ca_fields(&w, old_mad, new_mad);
	else if (c->attr_id == IBCC_CC_ATTR_CCT)
		table_fields(&w, c->attr_mod, old_mad, new_mad);
	else if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE)
		profile_fields(&w, c);
	return w.ret;
}
