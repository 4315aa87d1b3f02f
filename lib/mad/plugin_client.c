/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/plugin_client.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibcc/now.h>
#include <ibcc/text.h>
#include <ibcc/version.h>

#define HELLO_TIMEOUT_MS 5000

struct ibcc_plugin {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;       /* -1: not connected */
	bool greeted; /* WELCOME has come */
	int cancel_fd;
	uint32_t seq;
	uint32_t n_states; /* how often the plugin has sent its state */
	uint16_t version;  /* version of the protocol that the plugin speaks, if it is not ours */
	/* when we asked for a sign of life that has not come; 0: no request is open */
	uint64_t asked_ms;
	uint32_t lease_ms; /* see ibcc_plugin_promise() */
	struct ibcc_proto_state state;
	uint8_t buf[IBCC_PROTO_MAX_BYTES];
};

struct ibcc_plugin *ibcc_plugin_new(const char *socket_path)
{
	struct ibcc_plugin *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->fd = -1;
	p->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->cancel_fd < 0 || strlen(socket_path) >= sizeof(p->path)) {
		ibcc_plugin_free(p);
		return NULL;
	}
	memcpy(p->path, socket_path, strlen(socket_path));
	return p;
}

static void disconnect(struct ibcc_plugin *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->greeted = false;
	p->asked_ms = 0;
}

void ibcc_plugin_free(struct ibcc_plugin *p)
{
	if (!p)
		return;
	disconnect(p);
	if (p->cancel_fd >= 0)
		close(p->cancel_fd);
	free(p);
}

void ibcc_plugin_cancel(struct ibcc_plugin *p)
{
	uint64_t one = 1;

	if (p && write(p->cancel_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full, so the run is cancelled already */
}

uint64_t ibcc_plugin_silent_ms(const struct ibcc_plugin *p)
{
	return p->asked_ms ? ibcc_now_ms() - p->asked_ms : 0;
}

const struct ibcc_proto_state *ibcc_plugin_state(const struct ibcc_plugin *p)
{
	return p && p->greeted ? &p->state : NULL;
}

int ibcc_plugin_stopped(const struct ibcc_plugin *p, struct ibcc_why *why)
{
	return ibcc_why_set(why, -ETIMEDOUT,
			    "OpenSM has stopped: its plugin at %s does not answer, so nothing "
			    "is written: restart opensm",
			    p->path);
}

bool ibcc_plugin_is_other_release(const struct ibcc_plugin *p, struct ibcc_why *why)
{
	const struct ibcc_proto_state *s = ibcc_plugin_state(p);

	if (!s || !strcmp(s->plugin_version, IBCC_VERSION))
		return false;
	ibcc_why_set(why, 0,
		     "the OpenSM plugin is of release %s, the daemon of %s: install both from one "
		     "release and restart opensm",
		     s->plugin_version[0] ? s->plugin_version : "(none)", IBCC_VERSION);
	return true;
}

/* Waits for the socket; 0, -ETIMEDOUT, -ECANCELED. */
static int wait_for(struct ibcc_plugin *p, short events, int timeout_ms)
{
	struct pollfd pfd[2] = { { p->fd, events, 0 }, { p->cancel_fd, POLLIN, 0 } };
	int n;

	do
		n = poll(pfd, 2, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (pfd[1].revents)
		return -ECANCELED;
	return n ? 0 : -ETIMEDOUT;
}

static int send_message(struct ibcc_plugin *p, enum ibcc_proto_type type, const void *payload,
			size_t length)
{
	int rc;

	while ((rc = ibcc_proto_send(p->fd, type, p->seq, payload, length)) == -EAGAIN) {
		rc = wait_for(p, POLLOUT, IBCC_PLUGIN_SILENCE_MS);
		if (rc)
			return rc;
	}
	return rc;
}

static int copy_payload(void *to, size_t size, const struct ibcc_proto_header *h,
			const void *payload)
{
	if (h->length != size)
		return -EPROTO;
	memcpy(to, payload, size);
	return 0;
}

static int take_state(struct ibcc_plugin *p, const struct ibcc_proto_header *h, const void *payload)
{
	struct ibcc_proto_state s;
	int rc = copy_payload(&s, sizeof(s), h, payload);

	if (rc)
		return rc;
	s.opensm_version[sizeof(s.opensm_version) - 1] = '\0';
	s.plugin_version[sizeof(s.plugin_version) - 1] = '\0';
	p->state = s;
	p->n_states++;
	return 0;
}

/* Asks for the plugin's state: a sign of life of the plugin, and one of ours. */
static int ask_for_state(struct ibcc_plugin *p)
{
	const struct ibcc_proto_alive alive = { .lease_ms = p->lease_ms };

	p->asked_ms = ibcc_now_ms();
	return ibcc_proto_send(p->fd, IBCC_PROTO_STATE_GET, p->seq, &alive, sizeof(alive));
}

void ibcc_plugin_promise(struct ibcc_plugin *p, uint32_t lease_ms)
{
	p->lease_ms = lease_ms;
}

/* Takes the next message, if there is one. */
static int hear(struct ibcc_plugin *p, struct ibcc_proto_header *h, const void **payload)
{
	int rc = ibcc_proto_recv(p->fd, p->buf, h, payload);

	if (!rc)
		p->asked_ms = 0;
	return rc;
}

/* Waits for the next answer to the current request. Takes in STATE messages that come in between.
 */
static int receive(struct ibcc_plugin *p, int timeout_ms, struct ibcc_proto_header *h,
		   const void **payload)
{
	int rc;

	for (;;) {
		rc = hear(p, h, payload);
		if (rc == -EAGAIN) {
			rc = wait_for(p, POLLIN, timeout_ms);
			if (rc)
				return rc;
			continue;
		}
		if (rc == -EPROTONOSUPPORT)
			p->version = h->version;
		if (rc)
			return rc == -ENODATA ? -ENOTCONN : rc;
		if (h->type == IBCC_PROTO_STATE) {
			rc = take_state(p, h, *payload);
			if (rc)
				return rc;
		} else if (h->seq == p->seq || h->type == IBCC_PROTO_ERROR) {
			return 0;
		}
	}
}

/* Puts an ERROR into words. Never returns 0. */
static int refused(const struct ibcc_proto_header *h, const void *payload, struct ibcc_why *why)
{
	struct ibcc_proto_error e;

	if (copy_payload(&e, sizeof(e), h, payload))
		return ibcc_why_set(why, -EPROTO,
				    "the OpenSM plugin sent a malformed refusal: install plugin "
				    "and daemon from one release and restart opensm");
	e.text[sizeof(e.text) - 1] = '\0';
	return ibcc_why_set(why, -EPERM, "the OpenSM plugin refuses: %s%s%s",
			    ibcc_proto_refusal_text(e.refusal), e.text[0] ? ": " : "", e.text);
}

/* Ends the connection after ERROR, which is the last message that a plugin sends on it. */
static int hung_up(struct ibcc_plugin *p, const struct ibcc_proto_header *h, const void *payload,
		   struct ibcc_why *why)
{
	int rc = refused(h, payload, why);

	disconnect(p);
	return rc;
}

/* Closes the connection after an error in the middle of a conversation: which message comes next is
 * unknown.
 */
static int broken(struct ibcc_plugin *p, int rc, struct ibcc_why *why)
{
	disconnect(p);
	switch (rc) {
	case -ETIMEDOUT:
		return ibcc_why_set(
			why, rc, "the OpenSM plugin at %s does not answer, so nothing is written",
			p->path);
	case -ECANCELED: return ibcc_why_set(why, rc, "canceled while the OpenSM plugin was asked");
	case -ENOMEM: return ibcc_why_set(why, rc, "no memory");
	case -EPROTO:
		return ibcc_why_set(why, rc,
				    "what listens at %s does not speak the protocol of "
				    "the OpenSM plugin, so nothing is written: set plugin_socket "
				    "to that of the plugin",
				    p->path);
	case -EPROTONOSUPPORT:
		return ibcc_why_set(why, rc,
				    "the OpenSM plugin at %s speaks protocol version %u, this "
				    "program speaks %u: "
				    "install both from one release and restart opensm",
				    p->path, p->version, IBCC_PROTO_VERSION);
	}
	return ibcc_why_set(why, -ENOTCONN,
			    "the connection to the OpenSM plugin at %s broke, so it is not known "
			    "which of the last changes it made: %s",
			    p->path, strerror(-rc));
}

static int open_socket(struct ibcc_plugin *p, struct ibcc_why *why)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int err;

	memcpy(sa.sun_path, p->path, sizeof(sa.sun_path));
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd >= 0 && !connect(p->fd, (struct sockaddr *)&sa, sizeof(sa)))
		return 0;
	err = -errno;
	disconnect(p);
	switch (err) {
	case -ENOENT:
	case -ECONNREFUSED:
		return ibcc_why_set(
			why, err,
			err == -ENOENT
				? "no OpenSM plugin listens at %s: set event_plugin_name "
				  "ibcc_opensm in opensm.conf and restart opensm (see its log)"
				: "no OpenSM plugin listens at %s any more: start opensm",
			p->path);
	case -EACCES:
	case -EPERM:
		return ibcc_why_set(why, err,
				    "this user may not open the OpenSM plugin's socket %s: set "
				    "event_plugin_options ibcc.group=GROUP in opensm.conf, with a "
				    "group that the user belongs to, and restart opensm",
				    p->path);
	}
	return ibcc_why_set(why, err,
			    "cannot connect to the OpenSM plugin at %s: %s; nothing is written "
			    "without it: is opensm running?",
			    p->path, strerror(-err));
}

int ibcc_plugin_connect(struct ibcc_plugin *p, struct ibcc_why *why)
{
	struct ibcc_proto_header h;
	const void *payload;
	int rc = 0, timeout_ms = 0;

	if (p->greeted)
		return 0;
	if (p->fd < 0) {
		timeout_ms = HELLO_TIMEOUT_MS;
		rc = open_socket(p, why);
		if (rc)
			return rc;
		p->seq++;
		rc = send_message(p, IBCC_PROTO_HELLO, NULL, 0);
	}
	if (!rc)
		rc = receive(p, timeout_ms, &h, &payload);
	/* A plugin with too many clients sends an error and hangs up before it has read our
	 * message.
	 */
	if (rc == -EPIPE || rc == -ENOTCONN)
		rc = receive(p, 0, &h, &payload);
	if (rc == -ETIMEDOUT)
		return ibcc_plugin_stopped(p, why);
	if (rc)
		return broken(p, rc, why);
	if (h.type == IBCC_PROTO_ERROR)
		return hung_up(p, &h, payload, why);
	rc = h.type == IBCC_PROTO_WELCOME ? take_state(p, &h, payload) : -EPROTO;
	p->greeted = !rc;
	if (!rc && p->lease_ms)
		rc = ask_for_state(p);
	return rc ? broken(p, rc, why) : 0;
}

int ibcc_plugin_poll(struct ibcc_plugin *p)
{
	struct ibcc_proto_header h;
	const void *payload;
	int rc = 0;

	if (!p->greeted)
		return -ENOTCONN;
	while (!rc && !(rc = hear(p, &h, &payload)))
		if (h.type == IBCC_PROTO_STATE)
			rc = take_state(p, &h, payload);
	if (rc == -EAGAIN && p->asked_ms)
		return 0;
	if (rc == -EAGAIN) {
		rc = ask_for_state(p);
	}
	if (!rc || rc == -EAGAIN)
		return 0;
	disconnect(p);
	return -ENOTCONN;
}

struct ibcc_topo *ibcc_plugin_topology(struct ibcc_plugin *p, int *err, struct ibcc_why *why)
{
	struct ibcc_proto_topo *incoming = NULL;
	struct ibcc_proto_header h;
	struct ibcc_topo *topo = NULL;
	struct ibcc_proto_state at;
	const void *payload;
	uint32_t n_states;
	int rc;

	rc = ibcc_plugin_connect(p, why);
	if (rc) {
		*err = rc;
		return NULL;
	}
	incoming = ibcc_proto_topo_new();
	if (!incoming) {
		*err = ibcc_why_set(why, -ENOMEM, "no memory");
		return NULL;
	}
	p->seq++;
	n_states = p->n_states;
	rc = send_message(p, IBCC_PROTO_TOPO_GET, NULL, 0);
	while (!rc) {
		rc = receive(p, IBCC_PLUGIN_SILENCE_MS, &h, &payload);
		if (rc)
			break;
		if (h.type == IBCC_PROTO_TOPO_NODE) {
			rc = ibcc_proto_topo_add(incoming, payload, h.length);
		} else if (h.type == IBCC_PROTO_TOPO_END) {
			/* END carries the state that the nodes belong to. It is news only if no
			 * later state has come meanwhile.
			 */
			rc = copy_payload(&at, sizeof(at), &h, payload);
			if (!rc && n_states == p->n_states)
				rc = take_state(p, &h, payload);
			if (rc)
				break;
			topo = ibcc_proto_topo_finish(incoming, at.generation, &rc);
			incoming = NULL;
			break;
		} else if (h.type == IBCC_PROTO_ERROR) {
			rc = hung_up(p, &h, payload, why);
			break;
		} else {
			rc = -EPROTO;
		}
	}
	ibcc_proto_topo_free(incoming);
	if (!topo)
		*err = rc == -EPERM ? rc : broken(p, rc, why);
	return topo;
}

static int send_plan(struct ibcc_plugin *p, const struct ibcc_plan *plan, uint64_t cc_key)
{
	struct ibcc_proto_plan head = { .generation = plan->generation,
					.cc_key = cc_key,
					.n_changes = plan->n };
	uint32_t i;
	int rc;

	p->seq++;
	rc = send_message(p, IBCC_PROTO_PLAN_BEGIN, &head, sizeof(head));
	for (i = 0; !rc && i < plan->n; i++) {
		uint8_t buf[sizeof(struct ibcc_change) + 64];
		size_t n = ibcc_proto_change_encode(&plan->change[i], buf);

		rc = send_message(p, IBCC_PROTO_CHANGE, buf, n);
	}
	return rc ? rc : send_message(p, IBCC_PROTO_PLAN_COMMIT, NULL, 0);
}

static int take_result(struct ibcc_result *r, const struct ibcc_proto_header *h,
		       const void *payload)
{
	struct ibcc_proto_result m;

	if (copy_payload(&m, sizeof(m), h, payload) || m.index >= r->n ||
	    m.outcome > IBCC_OUTCOME_DRY)
		return -EPROTO;
	r->change[m.index] = (struct ibcc_change_result){ .outcome = (enum ibcc_outcome)m.outcome,
							  .err = m.err,
							  .status = (uint16_t)m.status };
	return 0;
}

static int take_end(struct ibcc_result *r, const struct ibcc_proto_header *h, const void *payload,
		    struct ibcc_why *why)
{
	struct ibcc_proto_error e;
	uint32_t i;

	if (copy_payload(&e, sizeof(e), h, payload))
		return -EPROTO;
	r->set_mads = e.set_mads;
	r->n_verified = 0;
	r->n_failed = 0;
	for (i = 0; i < r->n; i++) {
		r->n_verified += r->change[i].outcome == IBCC_OUTCOME_VERIFIED;
		r->n_failed += r->change[i].outcome == IBCC_OUTCOME_FAILED ||
			       r->change[i].outcome == IBCC_OUTCOME_DIFFERS;
	}
	if (e.refusal && !e.set_mads)
		return refused(h, payload, why);
	/* The plugin stopped on its way: it made a part of the changes, and that part must count.
	 */
	if (e.refusal) {
		refused(h, payload, why);
		return -ECANCELED;
	}
	if (r->n_verified == r->n)
		return 0;
	e.text[sizeof(e.text) - 1] = '\0';
	return ibcc_why_set(why, -EIO, "%u of %u change%s did not take effect%s%s",
			    r->n - r->n_verified, r->n, ibcc_text_plural(r->n, "", "s"),
			    e.text[0] ? ": " : "", e.text);
}

int ibcc_plugin_apply(struct ibcc_plugin *p, const struct ibcc_plan *plan, uint64_t cc_key,
		      struct ibcc_result *r, struct ibcc_why *why)
{
	struct ibcc_proto_header h;
	const void *payload;
	bool ends;
	int rc;

	rc = ibcc_plugin_connect(p, why);
	if (rc)
		return rc;
	rc = send_plan(p, plan, cc_key);
	r->unheard = !rc;
	while (!rc) {
		rc = receive(p, IBCC_PLUGIN_SILENCE_MS, &h, &payload);
		if (rc)
			break;
		ends = h.type == IBCC_PROTO_PLAN_END && h.length == sizeof(struct ibcc_proto_error);
		r->unheard = h.type != IBCC_PROTO_ERROR && !ends;
		if (h.type == IBCC_PROTO_RESULT)
			rc = take_result(r, &h, payload);
		else if (h.type == IBCC_PROTO_ERROR)
			return hung_up(p, &h, payload, why);
		else if (ends)
			return take_end(r, &h, payload, why);
		else
			rc = -EPROTO;
	}
	/* The plugin may refuse and close while we still send: its reason is worth reading. */
	if (rc == -EPIPE && !receive(p, 0, &h, &payload) && h.type == IBCC_PROTO_ERROR)
		return hung_up(p, &h, payload, why);
	return broken(p, rc, why);
}
