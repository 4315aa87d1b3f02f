/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ServiceRecord with subnet administration, by libibumad alone, byte by byte (IBA vol. 1,
 * 15.2.5.14): a witness, and another daemon's part.
 *
 * sa_record get                 prints GID, lease and name of the leader's record, "none" or "many"
 * sa_record set GUID LEASE NAME one for a port (its last 64 bits), for so many seconds
 */
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#define SERVICE_ID 0x0269626363000001ull

static void put(uint8_t *at, uint64_t v)
{
	v = htobe64(v);
	memcpy(at, &v, sizeof(v));
}

static uint64_t get(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return be64toh(v);
}

int main(int argc, char **argv)
{
	bool set = argc == 5 && !strcmp(argv[1], "set");
	umad_port_t port;
	uint8_t *mad;
	void *buf;
	int fd, agent, len = 256, status;

	if ((!set && (argc != 2 || strcmp(argv[1], "get"))) || umad_init() ||
	    umad_get_port(NULL, 0, &port) || (fd = umad_open_port(NULL, 0)) < 0)
		return 2;
	buf = calloc(1, umad_size() + 256);
	agent = umad_register(fd, 0x03, 2, 0, NULL);
	if (!buf || agent < 0)
		return 2;
	mad = umad_get_mad(buf);
	memcpy(mad, (uint8_t[]){ 1, 0x03, 2, set ? 0x02 : 0x01 }, 4);
	put(mad + 8, 0x4711);
	mad[17] = 0x31;
	put(mad + 48, set ? 0x53 : 0x01); /* ID; GID, lease, name */
	put(mad + 56, SERVICE_ID);
	if (set) {
		put(mad + 64, be64toh(port.gid_prefix));
		put(mad + 72, strtoull(argv[2], NULL, 0));
		put(mad + 80, strtoull(argv[3], NULL, 0));
		snprintf((char *)mad + 104, 64, "%s", argv[4]);
	}
	umad_set_addr(buf, (int)port.sm_lid, 1, 0, (int)0x80010000);
	if (umad_send(fd, agent, buf, 256, 2000, 0) < 0)
		return 2;
	do {
		len = 256;
		if (umad_recv(fd, buf, &len, 5000) < 0)
			return 2;
	} while (get(mad + 8) % (1ull << 32) != 0x4711 && !umad_status(buf));
	status = mad[4] << 8 | mad[5];
	if (umad_status(buf))
		puts("silent");
	else if (status == 0x0300)
		puts("none");
	else if (status == 0x0400)
		puts("many");
	else if (status)
		printf("status 0x%04x\n", (unsigned int)status);
	else
		printf("0x%016llx %llu %.64s\n", (unsigned long long)get(mad + 72),
		       (unsigned long long)(get(mad + 80) & 0xffffffff), (char *)mad + 104);
	umad_unregister(fd, agent);
	umad_close_port(fd);
	umad_release_port(&port);
	free(buf);
	return 0;
}
