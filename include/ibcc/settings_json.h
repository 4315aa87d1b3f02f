/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports, changes and settings as JSON: one form for all outputs. Fields have the annex's names as
 * keys.
 *
 * Functions that return JSON return a new reference, NULL without memory.
 */
#ifndef IBCC_SETTINGS_JSON_H
#define IBCC_SETTINGS_JSON_H

#include <stdint.h>

#include <jansson.h>

#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>

/* {"node_guid","node","port"}: the keys by which a port is named everywhere. */
json_t *ibcc_json_port(const struct ibcc_topo *t, uint32_t port);

/* Folds into a list one object for each field in which a change's old and new data differ.
 * `outcome` may be NULL: then there is no such key. 0 or -ENOMEM.
 */
int ibcc_json_change(json_t *list, const struct ibcc_change *c, const char *node,
		     const char *outcome);

/* SwitchCongestionSetting; masks are lists of ports. */
json_t *ibcc_json_switch(const struct ibcc_cc_sw_setting *v);
/* SwitchPortCongestionSetting: only the elements that are valid; the other ports are as the
 * switch-wide setting says.
 */
json_t *ibcc_json_switch_ports(const struct ibcc_endport_cc *ep);
/* The entries of CACongestionSetting, one for each SL. */
json_t *ibcc_json_sls(const struct ibcc_cc_ca_setting *v);
/* The entries of the congestion control table up to its limit, each as `one` formats it: the daemon
 * shows shift and multiplier, the simulator the register.
 */
json_t *ibcc_json_cct(const struct ibcc_cct *cct, json_t *(*one)(uint16_t entry));
/* Adds an attribute of parameters of NVIDIA's congestion control (ibcc_vcc_fields()) to an object,
 * by its name: an object of its fields. `data` has IBCC_VCC_PARAMETER_BYTES. 0, -ENOMEM, or
 * -EINVAL: it is no such attribute.
 */
int ibcc_json_parameters(json_t *into, uint16_t attr_id, const uint8_t *data);
/* Such an object of fields as text, "rpg_time_reset 300, rpg_byte_reset 32767, ...". Returns buf.
 */
#define IBCC_JSON_PARAMETERS_BYTES 512u /* what the longest one needs, at most */
const char *ibcc_json_parameters_text(const json_t *fields, char *buf, size_t len);

#endif
