/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* If several daemons write through their own ports, one leads. With the plugin, OpenSM has a place
 * for only one. If two daemons use the same port of a host, in whichever way, the second one
 * observes.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/json.h>
#include <ibcc/lock.h>
#include <ibcc/notice.h>

#include "daemon/service/service_impl.h"

#define LOOK_MS 100
#define WAIT_MS 8000

void ibcc_service_candidate(const struct ibcc_service *s, struct ibcc_leader_record *own)
{
	char host[IBCC_LEADER_NAME_BYTES - 16] = "";

	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	*own = (struct ibcc_leader_record){ .since = (uint64_t)time(NULL), .run = s->run };
	snprintf(own->name, sizeof(own->name), "ibcc-tuned on %s", host);
}

/* Where the lock is: in the folder of the service's sockets or, without that folder, beside our own
 * socket.
 */
#define RUN_FOLDER "/run/ibcc-tune"

static int lock_name(const struct ibcc_service *s, char *buf, size_t len)
{
	/* Ports of simulated fabrics have the same GUIDs. */
	const char *sim = getenv("IBSIM_SOCKNAME"), *own = s->config.control_socket;
	char folder[PATH_MAX], *slash;
	int n;

	if (own[0] == '@')
		own = s->config.state_file;
	snprintf(folder, sizeof(folder), "%s",
		 access(RUN_FOLDER, W_OK | X_OK) ? own : RUN_FOLDER "/");
	slash = strrchr(folder, '/');
	if (!slash || (sim && strchr(sim, '/')))
		return -EINVAL;
	*slash = '\0';
	n = snprintf(buf, len, "%s/port-0x%016" PRIx64 "%s%s", folder, ibcc_umad_port_guid(s->umad),
		     sim ? "-" : "", sim ? sim : "");
	return n < (int)len ? 0 : -ENAMETOOLONG;
}

void ibcc_service_unlock_port(struct ibcc_service *s)
{
	if (s->port_lock >= 0)
		close(s->port_lock);
	s->port_lock = -1;
}

int ibcc_service_lock_port(struct ibcc_service *s, struct ibcc_why *why)
{
	uint64_t guid = ibcc_umad_port_guid(s->umad);
	struct ibcc_why who = { "" };
	char name[PATH_MAX];
	int rc;

	if (s->port_lock >= 0 && s->port_locked == guid)
		return 0;
	ibcc_service_unlock_port(s);
	s->has_twin = false;
	if (lock_name(s, name, sizeof(name)))
		return 0;
	rc = ibcc_lock_take(name, &s->port_lock, &who);
	s->port_locked = guid;
	/* Failing to create a lock proves nothing: then only the election decides. */
	if (rc != -EBUSY)
		return 0;
	s->has_twin = true;
	s->twin = who;
	return ibcc_why_set(
		why, rc,
		"this program only observes, since another one of this host works at the "
		"same port: %s; stop one of them",
		who.text);
}

static int ask_once(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_umad_options o = { .port_guid = ibcc_umad_port_guid(s->umad) };

	return ibcc_notices_ask_once(&o, s->run_before, why);
}

int ibcc_service_may_write(struct ibcc_service *s, bool wait, struct ibcc_why *why)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000l };
	bool direct = s->config.apply_via == IBCC_VIA_DIRECT;
	int rc;

	if (!s->umad)
		return 0;
	/* With the plugin a command may have to take the place of a daemon that has stopped. */
	rc = direct || s->listens ? ibcc_service_lock_port(s, why) : 0;
	if (rc || !direct)
		return rc;
	if (!s->notices)
		return s->listens ? 0 : ask_once(s, why);
	ibcc_notices_stand(s->notices, s->config.mode == IBCC_MODE_APPLY);
	rc = ibcc_notices_may_write(s->notices, why);
	for (int ms = 0; wait && rc == -EAGAIN && ms < WAIT_MS && !s->canceled; ms += LOOK_MS) {
		nanosleep(&look, NULL);
		rc = ibcc_notices_may_write(s->notices, why);
	}
	return rc;
}

static const char *name_of(enum ibcc_election_state s)
{
	switch (s) {
	case IBCC_ELECTION_ASKS: return "asks";
	case IBCC_ELECTION_VACANT: return "vacant";
	case IBCC_ELECTION_STANDS: return "stands";
	case IBCC_ELECTION_LEADS: return "leads";
	case IBCC_ELECTION_FOLLOWS: return "follows";
	case IBCC_ELECTION_SILENT: return "silent";
	case IBCC_ELECTION_REFUSED: return "refused";
	}
	return "asks";
}

json_t *ibcc_service_election(const struct ibcc_service *s)
{
	struct ibcc_why why = { "" };
	struct ibcc_election e;

	if (s->config.apply_via != IBCC_VIA_DIRECT || !s->notices)
		return json_null();
	ibcc_notices_election(s->notices, &e);
	ibcc_notices_may_write(s->notices, &why);
	return json_pack("{ss so so}", "state", name_of(e.state), "leader",
			 e.leader.guid ? ibcc_json_text(e.leader.name) : json_null(), "text",
			 why.text[0] ? ibcc_json_text(why.text) : json_null());
}

bool ibcc_service_election_trouble(const struct ibcc_service *s, struct ibcc_why *why)
{
	struct ibcc_why said = { "" };
	struct ibcc_election e;
	int rc;

	if (s->has_twin) {
		ibcc_why_set(
			why, 0,
			"another program of this host works at the same port: %s; stop one of them",
			s->twin.text);
		return true;
	}
	if (s->config.apply_via != IBCC_VIA_DIRECT || !s->notices)
		return false;
	if (s->config.mode != IBCC_MODE_APPLY)
		return false;
	ibcc_notices_election(s->notices, &e);
	rc = ibcc_notices_may_write(s->notices, &said);
	if (!said.text[0] || (rc && rc != -EHOSTUNREACH))
		return false;
	*why = said;
	return true;
}
