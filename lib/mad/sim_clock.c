/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file is one record. It is read and written by single calls, and not mapped: a reader may be
 * root, and a mapping of a file that its owner cuts off ends the process by SIGBUS.
 */
#include <ibcc/sim_clock.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ibcc/mad.h>

/* "ibsimt", and the version of the record. */
#define MAGIC UINT64_C(0x696273696d740001)
/* The simulator writes every millisecond. If it has not written for this long, it has ended. */
#define STALE_NS (30 * UINT64_C(1000000000))
/* Bytes of a MAD: its class, and what is reserved in class PerfMgt. */
#define MGMT_CLASS 1
#define STAMP      24

/* A record that is read while it is written does not agree with its sum. It is read again. */
#define TRIES 100

struct record {
	uint64_t magic, engine_ns, host_ns, sum;
};

struct ibcc_sim_clock {
	int fd;
	uint64_t last_ns; /* the time that was read last */
};

/* Mixes the words of a record, so that hardly any mixture of two records has the sum of either. */
static uint64_t sum_of(const struct record *r)
{
	const uint64_t word[] = { r->magic, r->engine_ns, r->host_ns };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		sum = (sum ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 29);
	return sum;
}

void ibcc_sim_clock_stamp(uint8_t *mad, uint64_t engine_ns)
{
	const uint64_t stamp[] = { MAGIC, engine_ns };

	if (mad[MGMT_CLASS] == IBCC_MAD_CLASS_PERF)
		memcpy(mad + STAMP, stamp, sizeof(stamp));
}

bool ibcc_sim_clock_stamped(const uint8_t *mad, uint64_t *engine_ns)
{
	uint64_t stamp[2];

	memcpy(stamp, mad + STAMP, sizeof(stamp));
	if (mad[MGMT_CLASS] != IBCC_MAD_CLASS_PERF || stamp[0] != MAGIC)
		return false;
	*engine_ns = stamp[1];
	return true;
}

int ibcc_sim_clock_path(const char *name, char *buf, size_t len)
{
	return snprintf(buf, len, "/dev/shm/ibcc-sim.%s.clock", name);
}

int ibcc_sim_clock_create(const char *path)
{
	int fd;

	/* In a folder to which every user may write, only the file's owner can unlink it. */
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* Programs of other users may read it, whatever the umask. */
	if (fchmod(fd, 0644) == 0)
		return fd;
	close(fd);
	unlink(path);
	return -EPERM;
}

int ibcc_sim_clock_write(int fd, uint64_t engine_ns, uint64_t host_ns)
{
	struct record r = { .magic = MAGIC, .engine_ns = engine_ns, .host_ns = host_ns };
	ssize_t n;

	r.sum = sum_of(&r);
	n = pwrite(fd, &r, sizeof(r), 0);
	if (n < 0)
		return -errno;
	return n == sizeof(r) ? 0 : -EIO;
}

/* Reads the record. 0, or -EPROTO if the file has no record. */
static int read_record(int fd, struct record *r)
{
	for (int i = 0; i < TRIES; i++) {
		if (pread(fd, r, sizeof(*r), 0) != sizeof(*r) || r->magic != MAGIC)
			return -EPROTO;
		if (r->sum == sum_of(r))
			return 0;
	}
	return -EPROTO;
}

static int look_at(int fd, const char *path, uint64_t host_ns, struct record *r,
		   struct ibcc_why *why)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return ibcc_why_set(why, -errno, "%s: %s", path, strerror(errno));
	/* The file's owner does not matter. A program of root, such as opensm, may be on a user's
	 * simulated fabric, whose answers all come from that user's simulator.
	 */
	if (!S_ISREG(st.st_mode))
		return ibcc_why_set(why, -EPERM, "%s: this is not a regular file", path);
	rc = read_record(fd, r);
	if (rc)
		return ibcc_why_set(why, rc,
				    "%s: this clock is damaged, or another version of ibcc-sim "
				    "wrote it: install all programs from one build",
				    path);
	if (r->host_ns + STALE_NS >= host_ns && r->host_ns <= host_ns + STALE_NS)
		return 0;
	return ibcc_why_set(why, -ESTALE,
			    "%s: no simulator writes its time there: it has stopped, or was killed",
			    path);
}

struct ibcc_sim_clock *ibcc_sim_clock_open(const char *path, uint64_t host_ns, int *err,
					   struct ibcc_why *why)
{
	struct ibcc_sim_clock *c = calloc(1, sizeof(*c));
	struct record r = { 0 };

	if (!c) {
		*err = ibcc_why_set(why, -ENOMEM, "%s: no memory", path);
		return NULL;
	}
	c->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->fd < 0)
		*err = ibcc_why_set(why, errno == ELOOP ? -EPERM : -errno, "%s: %s", path,
				    strerror(errno));
	else
		*err = look_at(c->fd, path, host_ns, &r, why);
	c->last_ns = r.engine_ns;
	if (!*err)
		return c;
	ibcc_sim_clock_close(c);
	return NULL;
}

void ibcc_sim_clock_close(struct ibcc_sim_clock *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

uint64_t ibcc_sim_clock_ns(struct ibcc_sim_clock *c)
{
	struct record r;

	if (!read_record(c->fd, &r) && r.engine_ns > c->last_ns)
		c->last_ns = r.engine_ns;
	return c->last_ns;
}
