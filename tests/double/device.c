/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device and its attributes. */
#include "tests/double/inside.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The header hides the function behind a macro. */
#undef ibv_query_port

static struct ibv_device device = { .node_type = IBV_NODE_CA,
				    .transport_type = IBV_TRANSPORT_IB,
				    .name = "double0",
				    .dev_name = "uverbs0",
				    .dev_path = "/nonexistent/uverbs0",
				    .ibdev_path = "/nonexistent/double0" };

struct ibv_context *double_context(void)
{
	static struct ibv_context context = { .device = &device };

	return &context;
}

PUBLIC struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = double_make("ibv_get_device_list", 2 * sizeof(*list));

	if (list)
		list[0] = &device;
	if (n)
		*n = list ? 1 : 0;
	return list;
}

PUBLIC void ibv_free_device_list(struct ibv_device **list)
{
	(void)double_unmake("ibv_free_device_list", list);
}

PUBLIC int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	(void)c;
	if (double_fails("ibv_query_device"))
		return EIO;
	*a = (struct ibv_device_attr){ .fw_ver = "1.0 double",
				       .node_guid = 0x0100000000c90200,
				       .sys_image_guid = 0x0100000000c90200,
				       .vendor_id = 0x1234,
				       .max_qp = QPS_MAX,
				       .max_qp_wr = 16384,
				       .max_cq = 64,
				       .max_cqe = double_verbs.max_cqe,
				       .max_mr = MRS_MAX,
				       .max_mr_size = UINT64_MAX,
				       .max_sge = 1,
				       .max_qp_rd_atom = 16,
				       .max_qp_init_rd_atom = 16,
				       .max_pkeys = 1,
				       .phys_port_cnt = 1 };
	return 0;
}

PUBLIC int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr a = { .state = double_verbs.down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
				   .max_mtu = IBV_MTU_4096,
				   .active_mtu = IBV_MTU_2048,
				   .gid_tbl_len = 2,
				   .pkey_tbl_len = 1,
				   .max_msg_sz = 1u << 31,
				   .sm_lid = 1,
				   .lid = LID,
				   .active_width = 2,
				   .active_speed = double_verbs.unknown ? 0 : 4,
				   .phys_state = 5,
				   .link_layer = IBV_LINK_LAYER_INFINIBAND };

	(void)c;
	if (port != 1 || double_fails("ibv_query_port"))
		return EINVAL;
	if (double_verbs.ethernet) {
		a.lid = a.sm_lid = 0;
		a.link_layer = IBV_LINK_LAYER_ETHERNET;
	}
	/* Copies only the members that a program knows which was built before the structure grew.
	 */
	memcpy(compat, &a, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}

PUBLIC int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	static const uint8_t raw[2][16] = {
		{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 0, 0, 0, 0, 2 },
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1 },
	};

	(void)c;
	if (port != 1 || index < 0 || index > 1 || double_fails("ibv_query_gid"))
		return -1;
	memcpy(gid->raw, raw[index], sizeof(gid->raw));
	return 0;
}

PUBLIC int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
			     struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	(void)c;
	(void)flags;
	(void)size;
	if (double_fails("ibv_query_gid_ex"))
		return EIO;
	memset(entry, 0, sizeof(*entry));
	if (port != 1 || index > 1 || double_verbs.no_gid)
		return ENODATA;
	entry->gid.raw[0] = 0xfe;
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = double_verbs.ethernet ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB;
	if (index) {
		entry->gid.raw[0] = 0;
		entry->gid.raw[10] = entry->gid.raw[11] = 0xff;
		entry->gid.raw[15] = 1;
	}
	return 0;
}
