/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A thread that asks the name service (names.h): which groups the configured roles are, and which
 * user has a UID. A descriptor wakes the event loop when there is an answer. A user's name is
 * waited for only for a moment. If the service hangs, only this thread hangs.
 */
#include "daemon/names.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/log.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

#include "daemon/who.h"

/* Pause after failed lookups, doubled each time. */
#define AGAIN_S      1
#define AGAIN_MOST_S 64
#define ENTRY_BYTES  (1u << 20) /* for a group's entry, which has the names of all its members */

enum { READ_GROUP, WRITE_GROUP, N_GROUPS };

static const char *const keys[N_GROUPS] = { "control_read_group", "control_write_group" };

struct role {
	char name[sizeof(((struct ibcc_config *)NULL)->control_read_group)];
	gid_t gid;   /* the last answer */
	bool known;  /* there has been an answer */
	bool failed; /* the last lookup failed, which has been logged */
};

struct ibcc_names {
	atomic_uint owners;   /* the caller and the thread; the last one frees */
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t changed;
	bool quit;
	int fd;
	struct role role[N_GROUPS];
	unsigned int question; /* counts the requests for groups */
	bool roles_due, answered;
	struct timespec again; /* when groups are due again; tv_sec 0: they are not */
	unsigned int again_s;
	/* Only one thread asks for users, so there is one state. */
	enum { USER_NONE, USER_ASKED, USER_KNOWN } user_state;
	uid_t uid;
	char user[IBCC_LOGIN_BYTES];
};

static void let_go(struct ibcc_names *n)
{
	if (atomic_fetch_sub(&n->owners, 1) != 1)
		return;
	close(n->fd);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

/* Returns an errno. No such group: 0 with IBCC_JSONL_NOBODY. */
static int find_group(const char *name, gid_t *gid)
{
	struct group gr, *found = NULL;
	char *entry;
	int rc;

	*gid = IBCC_JSONL_NOBODY;
	if (!name[0])
		return 0;
	entry = malloc(ENTRY_BYTES);
	rc = entry ? getgrnam_r(name, &gr, entry, ENTRY_BYTES, &found) : ENOMEM;
	if (!rc && found)
		*gid = found->gr_gid;
	free(entry);
	return rc;
}

static void find_user(uid_t uid, char name[IBCC_LOGIN_BYTES])
{
	struct passwd pw, *found = NULL;
	char entry[16384];

	name[0] = '\0';
	if (!getpwuid_r(uid, &pw, entry, sizeof(entry), &found) && found)
		snprintf(name, IBCC_LOGIN_BYTES, "%.*s", IBCC_LOGIN_BYTES - 1, found->pw_name);
}

/* Records an answer, and logs what is wrong with it. */
static void note(struct role *r, const char *key, int err, gid_t gid)
{
	if (err && !r->failed)
		ibcc_log(LOG_WARNING,
			 "%s: the name service cannot look up group %s: %s. Until it can, %s; the "
			 "daemon keeps asking",
			 key, r->name, strerror(err),
			 r->known ? "the daemon grants that right to the group number that it "
				    "looked up last"
				  : "only root and the daemon's user have that right");
	else if (!err && r->name[0] && gid == IBCC_JSONL_NOBODY)
		ibcc_log(LOG_WARNING,
			 "%s: there is no group %s, so no user gets that right by it: create the "
			 "group, or name another one and reload the daemon",
			 key, r->name);
	r->failed = err != 0;
	if (!err) {
		r->gid = gid;
		r->known = true;
	}
}

/* Call with the lock held; the function releases it meanwhile. */
static void answer_roles(struct ibcc_names *n)
{
	unsigned int question = n->question;
	char name[N_GROUPS][sizeof(n->role->name)];
	gid_t gid[N_GROUPS];
	uint64_t one = 1;
	int err[N_GROUPS];

	for (int i = 0; i < N_GROUPS; i++)
		memcpy(name[i], n->role[i].name, sizeof(name[i]));
	n->roles_due = false;
	n->again = (struct timespec){ 0 };
	pthread_mutex_unlock(&n->lock);
	for (int i = 0; i < N_GROUPS; i++)
		err[i] = find_group(name[i], &gid[i]);
	pthread_mutex_lock(&n->lock);
	if (n->quit || question != n->question)
		return;
	for (int i = 0; i < N_GROUPS; i++) {
		note(&n->role[i], keys[i], err[i], gid[i]);
		if (err[i])
			n->again = ibcc_now_in_ms(n->again_s * 1000);
	}
	if (n->again.tv_sec && n->again_s < AGAIN_MOST_S)
		n->again_s *= 2;
	n->answered = true;
	/* It fails only when the counter is full, and then the loop is awake already. */
	(void)!write(n->fd, &one, sizeof(one));
}

static void answer_user(struct ibcc_names *n)
{
	char name[IBCC_LOGIN_BYTES];
	uid_t uid = n->uid;

	pthread_mutex_unlock(&n->lock);
	find_user(uid, name);
	pthread_mutex_lock(&n->lock);
	memcpy(n->user, name, sizeof(name));
	n->user_state = USER_KNOWN;
	pthread_cond_broadcast(&n->changed);
}

static void *run(void *arg)
{
	struct ibcc_names *n = arg;

	pthread_mutex_lock(&n->lock);
	while (!n->quit) {
		if (n->roles_due)
			answer_roles(n);
		else if (n->user_state == USER_ASKED)
			answer_user(n);
		else if (!n->again.tv_sec)
			pthread_cond_wait(&n->changed, &n->lock);
		else if (pthread_cond_timedwait(&n->changed, &n->lock, &n->again) == ETIMEDOUT)
			n->roles_due = true;
	}
	pthread_mutex_unlock(&n->lock);
	let_go(n);
	return NULL;
}

static int start_thread(struct ibcc_names *n)
{
	pthread_t thread;
	int rc = ibcc_thread_start(&thread, run, n);

	if (!rc)
		pthread_detach(thread);
	return rc;
}

struct ibcc_names *ibcc_names_new(void)
{
	struct ibcc_names *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;

	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &attr);
	pthread_condattr_destroy(&attr);
	for (int i = 0; i < N_GROUPS; i++)
		n->role[i].gid = IBCC_JSONL_NOBODY;
	n->owners = 2;
	n->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (n->fd >= 0 && !start_thread(n))
		return n;
	if (n->fd >= 0)
		close(n->fd);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
	return NULL;
}

void ibcc_names_free(struct ibcc_names *n)
{
	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	n->quit = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	let_go(n);
}

static struct ibcc_jsonl_roles present_roles(const struct ibcc_names *n)
{
	return (struct ibcc_jsonl_roles){ .read = n->role[READ_GROUP].gid,
					  .write = n->role[WRITE_GROUP].gid };
}

static void rename_role(struct role *r, const char *name)
{
	r->failed = false;
	if (!strcmp(r->name, name))
		return;
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->gid = IBCC_JSONL_NOBODY;
	r->known = false;
}

struct ibcc_jsonl_roles ibcc_names_ask(struct ibcc_names *n, const struct ibcc_config *c)
{
	struct ibcc_jsonl_roles roles;

	pthread_mutex_lock(&n->lock);
	rename_role(&n->role[READ_GROUP], c->control_read_group);
	rename_role(&n->role[WRITE_GROUP], c->control_write_group);
	roles = present_roles(n);
	n->question++;
	n->again_s = AGAIN_S;
	n->roles_due = true;
	n->answered = false;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	return roles;
}

int ibcc_names_fd(const struct ibcc_names *n)
{
	return n->fd;
}

bool ibcc_names_take(struct ibcc_names *n, struct ibcc_jsonl_roles *roles)
{
	uint64_t count;
	bool answered;

	pthread_mutex_lock(&n->lock);
	(void)!read(n->fd, &count, sizeof(count));
	answered = n->answered;
	n->answered = false;
	*roles = present_roles(n);
	pthread_mutex_unlock(&n->lock);
	return answered;
}

/* Waits for the name of a user. Returns false if it is not known in time, or not at all. */
static bool wait_for_user(struct ibcc_names *n, uid_t uid, char name[IBCC_LOGIN_BYTES])
{
	struct timespec until = ibcc_now_in_ms(IBCC_NAMES_PATIENCE_MS);
	int rc = 0;

	pthread_mutex_lock(&n->lock);
	if (n->user_state != USER_ASKED) {
		n->uid = uid;
		n->user_state = USER_ASKED;
		pthread_cond_broadcast(&n->changed);
		while (n->user_state == USER_ASKED && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&n->changed, &n->lock, &until);
	}
	name[0] = '\0';
	if (n->user_state == USER_KNOWN && n->uid == uid)
		memcpy(name, n->user, IBCC_LOGIN_BYTES);
	pthread_mutex_unlock(&n->lock);
	return name[0];
}

void ibcc_names_who(struct ibcc_names *n, uid_t uid, pid_t pid, const char *login, char *buf,
		    size_t len)
{
	char name[IBCC_LOGIN_BYTES] = "root";

	if (uid && (!n || !wait_for_user(n, uid, name)))
		name[0] = '\0';
	ibcc_who_text(name, uid, pid, login, buf, len);
}
