/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which port of a host is opened, with a libibumad of the test's own. */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/mad.h>

#include "lib/mad/umad_port.h"

#define PREFIX  0xfe80000000000000ull
#define SM_GUID 0x5a

/* Port 1 of mlx5_0, mlx5_1, ... */
static umad_port_t ports[3];
static int n_ports;

/* The subnet manager that answers at each port, 0 for none; and whether the port may be opened. */
static uint64_t sm_guid[3];
static bool may_open[3];

static void have(int i, uint64_t guid, uint64_t prefix, unsigned int state, unsigned int sm_lid)
{
	ports[i] = (umad_port_t){ .portnum = 1,
				  .state = state,
				  .phys_state = 5,
				  .base_lid = (unsigned int)(10 + i),
				  .sm_lid = sm_lid,
				  .gid_prefix = htobe64(prefix),
				  .port_guid = htobe64(guid) };
	snprintf(ports[i].ca_name, sizeof(ports[i].ca_name), "mlx5_%d", i);
	strcpy(ports[i].link_layer, "InfiniBand");
	sm_guid[i] = SM_GUID;
	may_open[i] = true;
	n_ports = i + 1;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	for (int i = 0; i < n_ports && i < max; i++)
		memcpy(cas[i], ports[i].ca_name, sizeof(cas[i]));
	return n_ports;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	memset(ca, 0, sizeof(*ca));
	for (int i = 0; i < n_ports; i++) {
		if (strcmp(ports[i].ca_name, name))
			continue;
		ca->numports = 1;
		ca->ports[1] = &ports[i];
		return 0;
	}
	return -1;
}

int umad_release_ca(umad_ca_t *ca)
{
	(void)ca;
	return 0;
}

static int n_asked;
static uint64_t tid;

static int index_of(const char *ca)
{
	for (int i = 0; i < n_ports; i++) {
		if (!strcmp(ports[i].ca_name, ca))
			return i;
	}
	return -1;
}

int umad_open_port(const char *ca, int port)
{
	int i = index_of(ca);

	(void)port;
	return i >= 0 && may_open[i] ? i : -EACCES;
}

int umad_close_port(int fd)
{
	(void)fd;
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
	(void)rmpp;
	(void)mask;
	assert_int_equal(mgmt_class, 1);
	assert_int_equal(version, 1);
	return fd;
}

int umad_unregister(int fd, int agent)
{
	assert_int_equal(fd, agent);
	return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);

	(void)agent;
	(void)timeout_ms;
	(void)retries;
	assert_int_equal(length, 256);
	assert_int_equal(be16toh(umad_get_mad_addr(umad)->lid), ports[fd].sm_lid);
	assert_int_equal(mad[1], 1);
	assert_int_equal(mad[3], 1);
	assert_int_equal(mad[16] << 8 | mad[17], 0x20);
	tid = mad_get_field64((void *)(uintptr_t)mad, 0, IB_MAD_TRID_F);
	n_asked++;
	return 0;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	uint8_t *mad = umad_get_mad(umad);

	(void)timeout_ms;
	*length = 256;
	((ib_user_mad_t *)umad)->status = sm_guid[fd] ? 0 : ETIMEDOUT;
	mad[3] = 0x81;
	mad_set_field64(mad, 0, IB_MAD_TRID_F, tid | 7ull << 32);
	mad_set_field64(mad + IB_SMP_DATA_OFFS, 0, IB_SMINFO_GUID_F, sm_guid[fd]);
	return fd;
}

static int find(const struct ibcc_umad_options *o, struct ibcc_umad_port *p, char *why)
{
	why[0] = '\0';
	return ibcc_umad_port_find(o, p, why, 200);
}

static void test_one_fabric(void **state)
{
	const struct ibcc_umad_options any = { 0 };
	struct ibcc_umad_port p;
	char why[200];

	(void)state;
	have(0, 0xa0, PREFIX, 1, 0); /* down */
	have(1, 0xa1, PREFIX, 4, 3);
	have(2, 0xa2, PREFIX, 4, 3); /* a second link to the same */
	assert_int_equal(find(&any, &p, why), 0);
	assert_string_equal(p.ca, "mlx5_1");
	assert_int_equal(p.guid, 0xa1);
	assert_int_equal(p.sm_lid, 3);
}

/* Only the administrator knows which is meant. */
static void test_two_fabrics(void **state)
{
	struct ibcc_umad_options o = { 0 };
	struct ibcc_umad_port p;
	char why[200];

	(void)state;
	have(0, 0xa0, PREFIX, 4, 3);
	have(1, 0xa1, PREFIX + 1, 4, 3);
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
	assert_non_null(strstr(why, "several fabrics"));
	assert_non_null(strstr(why, "mlx5_0 port 1"));
	/* Two that were left with the same prefix. */
	have(1, 0xa1, PREFIX, 4, 7);
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
	/* Said by name, or by the GUID of the plugin's port. */
	o.ca = "mlx5_1";
	assert_int_equal(find(&o, &p, why), 0);
	assert_int_equal(p.guid, 0xa1);
	o = (struct ibcc_umad_options){ .port_guid = 0xa0 };
	assert_int_equal(find(&o, &p, why), 0);
	assert_string_equal(p.ca, "mlx5_0");
	o.port_guid = 0xbb;
	assert_int_equal(find(&o, &p, why), -ENODEV);
	assert_non_null(strstr(why, "no local port has GUID 0x00000000000000bb"));
	/* A subnet manager at the second adapter is on this host, too. */
	assert_true(ibcc_umad_is_local(0xa0) && ibcc_umad_is_local(0xa1));
	assert_false(ibcc_umad_is_local(0xbb) || ibcc_umad_is_local(0));
	/* One that is down does not count. */
	have(1, 0xa1, PREFIX + 1, 1, 0);
	o = (struct ibcc_umad_options){ 0 };
	assert_int_equal(find(&o, &p, why), 0);
	assert_string_equal(p.ca, "mlx5_0");
}

/* Ports without a link or a GUID are not chosen, unless by name; ports with one LID are on two
 * fabrics, whatever else they have in common.
 */
static void test_unusable(void **state)
{
	struct ibcc_umad_options o = { 0 };
	struct ibcc_umad_port p;
	char why[200];

	(void)state;
	have(0, 0, PREFIX, 4, 3);
	have(1, 0xa1, PREFIX, 1, 0);
	assert_int_equal(find(&o, &p, why), -ENODEV);
	assert_non_null(strstr(why, "has a link"));
	have(2, 0xa2, PREFIX, 2, 0);
	assert_int_equal(find(&o, &p, why), 0);
	assert_string_equal(p.ca, "mlx5_2");
	o.ca = "mlx5_1";
	assert_int_equal(find(&o, &p, why), 0);
	assert_string_equal(p.ca, "mlx5_1");
	o.ca = NULL;
	have(0, 0xa0, PREFIX, 4, 1);
	have(1, 0xa1, PREFIX, 4, 1);
	assert_int_equal(find(&o, &p, why), 0);
	ports[1].base_lid = ports[0].base_lid;
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
}

/* Many sites leave the prefix as it comes, and a subnet manager often has LID 1: what tells such
 * fabrics apart is the subnet manager's GUID, and without an answer nothing is guessed.
 */
static void test_alike(void **state)
{
	struct ibcc_umad_options o = { 0 };
	struct ibcc_umad_port p;
	char why[200];

	(void)state;
	have(0, 0xa0, PREFIX, 4, 1);
	have(1, 0xa1, PREFIX, 4, 1);
	n_asked = 0;
	assert_int_equal(find(&o, &p, why), 0);
	assert_int_equal(n_asked, 2);
	sm_guid[1] = SM_GUID + 1;
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
	assert_non_null(strstr(why, "several fabrics"));
	/* Each is asked twice before it counts as silent. */
	sm_guid[1] = 0;
	n_asked = 0;
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
	assert_int_equal(n_asked, 3);
	assert_non_null(strstr(why, "do not say"));
	assert_non_null(strstr(why, "mlx5_0 port 1"));
	sm_guid[1] = SM_GUID;
	may_open[0] = false;
	assert_int_equal(find(&o, &p, why), -ENOTUNIQ);
	/* A port that is named needs no answer. */
	n_asked = 0;
	o.ca = "mlx5_1";
	assert_int_equal(find(&o, &p, why), 0);
	assert_int_equal(n_asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_one_fabric),
		cmocka_unit_test(test_two_fabrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
