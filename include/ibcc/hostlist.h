/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists of hosts as Slurm writes them: "source[1-3,7],a[01-03]-ib". */
#ifndef IBCC_HOSTLIST_H
#define IBCC_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a host's name, without its end. */
#define IBCC_HOST_NAME_BYTES 255u

/* Takes a host; -errno ends the reading. */
typedef int ibcc_hostlist_fn(void *arg, const char *host);

/* Calls take() for each host of a list, in its order and as often as the list has it. A name may
 * have several brackets, each with numbers and ranges: "a[1-2]b[3-4]" is a1b3, a1b4, a2b3, a2b4. A
 * number has at least as many digits as the first one of its range is written with. At most `most`
 * hosts. Returns 0, what take() returned, or -EINVAL: a bracket is not closed or has no numbers, a
 * range runs backwards, a name is empty or too long, or there are more hosts. Some may have been
 * taken then.
 */
int ibcc_hostlist_expand(const char *list, uint32_t most, ibcc_hostlist_fn *take, void *arg);

#endif
