/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ACLs of files, as extended attributes have them. Include after cmocka.h. */
#ifndef TESTS_UNIT_ACLS_H
#define TESTS_UNIT_ACLS_H

#include <stdint.h>
#include <string.h>
#include <sys/xattr.h>

#define ACL_ACCESS  "system.posix_acl_access"
#define ACL_DEFAULT "system.posix_acl_default"
#define ACL_BYTES   (4 + 5 * 8)
#define ACL_R       4
#define ACL_RW      6

/* Version 2: the owner may read and write, user 1234, the group and the mask as said, others
 * nothing.
 */
static inline void acl_make(uint8_t acl[ACL_BYTES], uint8_t user, uint8_t group, uint8_t mask)
{
	const uint8_t bytes[ACL_BYTES] = {
		2,    0, 0,      0,                         /* version */
		1,    0, ACL_RW, 0, 0xff, 0xff, 0xff, 0xff, /* owner */
		2,    0, user,   0, 0xd2, 4,    0,    0,    /* user 1234 */
		4,    0, group,  0, 0xff, 0xff, 0xff, 0xff, /* group */
		0x10, 0, mask,   0, 0xff, 0xff, 0xff, 0xff, /* mask */
		0x20, 0, 0,      0, 0xff, 0xff, 0xff, 0xff, /* others */
	};

	memcpy(acl, bytes, sizeof(bytes));
}

#endif
