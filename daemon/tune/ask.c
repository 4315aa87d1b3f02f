/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The client's end of the control socket. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

#include <ibcc/jsonl.h>
#include <ibcc/lock.h>

#include "daemon/tune/patience.h"
#include "daemon/who.h"

static int read_answer(const json_t *o, json_t **out, struct ibcc_why *why)
{
	json_t *result = json_object_get(o, "result");
	int rc = 0;

	if (!json_is_boolean(json_object_get(o, "ok")))
		return ibcc_why_set(why, -EPROTO,
				    "the answer of ibcc-tuned is malformed: install ibcc-tune and "
				    "ibcc-tuned from one release");
	*out = json_is_object(result) ? json_incref(result) : NULL;
	if (!json_is_true(json_object_get(o, "ok"))) {
		json_int_t err = tune_int(o, "errno");

		rc = ibcc_why_set(why, err > 0 && err < 4096 ? (int)-err : -EIO, "%s",
				  tune_str(o, "error"));
		/* The daemon was reached: its errors must not look like a failed connection. */
		if (rc == -ENOENT || rc == -ECONNREFUSED)
			rc = -EIO;
	} else if (!*out) {
		rc = ibcc_why_set(why, -EPROTO,
				  "the answer of ibcc-tuned has no result: install ibcc-tune and "
				  "ibcc-tuned from one release");
	}
	return rc;
}

int tune_ask(const struct tune *t, const char *command, json_t *args, json_t **out,
	     struct ibcc_why *why)
{
	const char *path = t->config.control_socket;
	json_t *request = json_pack("{ss so}", "command", command, "args",
				    args ? json_incref(args) : json_object());
	json_t *answer = NULL;
	const char *login = ibcc_who_sudo();
	struct tune_patience patience;
	struct ibcc_jsonl_wait wait = tune_patience(&patience, t, !strcmp(command, "status"));
	int rc;

	*out = NULL;
	if (request && login[0])
		json_object_set_new(request, "sudo_user", json_string(login));
	rc = request ? ibcc_jsonl_ask_patiently(path, request, &wait, &answer) : -ENOMEM;
	if (rc == -ENOENT || rc == -ECONNREFUSED)
		ibcc_why_set(why, rc, "ibcc-tuned is not running: no program listens at %s", path);
	else if (rc == -ETIMEDOUT)
		rc = tune_patience_ended(&patience, why);
	else if (rc)
		ibcc_why_set(
			why, rc, "cannot ask ibcc-tuned, so nothing was changed: %s: %s%s", path,
			strerror(-rc),
			rc == -EACCES
				? "; root may use it, and so may members of control_read_group and "
				  "control_write_group (see ibcc-tuned.yaml(5))"
				: "");
	else
		rc = read_answer(answer, out, why);
	json_decref(answer);
	json_decref(request);
	return rc;
}

/* Without any device libibumad still names one, which then cannot be read. */
static bool has_device(void)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = { { 0 } };
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	umad_ca_t ca;

	for (int i = 0; i < n; i++) {
		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		umad_release_ca(&ca);
		return true;
	}
	return false;
}

int tune_ask_status(const struct tune *t, json_t **out, struct ibcc_why *why)
{
	int rc = tune_ask(t, "status", NULL, out, why);

	if (rc != -ENOENT && rc != -ECONNREFUSED)
		return rc;
	if (!has_device())
		return ibcc_why_set(
			why, rc,
			"%s. This host has no InfiniBand device, so the service does "
			"not start. Look at ibstat; an adapter needs its driver and the "
			"kernel module ib_umad",
			why->text);
	return ibcc_why_set(why, rc, "%s; systemctl start ibcc-tuned%s%s starts it", why->text,
			    t->fabric ? "@" : "", t->fabric ? t->fabric : "");
}

int tune_ask_running(struct tune *t, const char *command)
{
	struct ibcc_why why = { "" };
	json_t *status = NULL;
	int rc = tune_ask(t, "status", NULL, &status, &why);

	json_decref(status);
	if (rc == -ENOENT || rc == -ECONNREFUSED) {
		tune_fail(
			"%s: %s, and without a daemon the configuration is needed: correct it, or "
			"leave it out with --config /dev/null",
			command, why.text);
		return IBCC_CONFIG_EXIT_STATUS;
	}
	fprintf(stderr,
		"ibcc-tune: the configuration cannot be used; %s goes to the daemon that runs at "
		"%s\n",
		command, t->config.control_socket);
	t->no_config = true;
	return TUNE_OK;
}

/* A daemon that does not answer, or has no free connection for us, counts as running. */
int tune_alone(const struct tune *t, int *fd, struct ibcc_why *why)
{
	struct ibcc_why said = { "" };
	json_t *status = NULL;
	int rc = tune_ask(t, "status", NULL, &status, &said);

	json_decref(status);
	*fd = -1;
	if (!rc)
		return ibcc_why_set(why, -EBUSY, "ibcc-tuned is running");
	if (rc == -EOWNERDEAD)
		return ibcc_why_set(why, rc, "nothing is written beside a daemon: %s", said.text);
	if (rc != -ENOENT && rc != -ECONNREFUSED)
		return ibcc_why_set(why, rc,
				    "it is not known whether ibcc-tuned is running, so ibcc-tune "
				    "writes nothing beside it: %s",
				    said.text);
	return ibcc_lock_take(t->config.state_file, fd, why);
}
