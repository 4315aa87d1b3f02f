/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A working daemon may take long for an answer, but it gives signs of life meanwhile: its event
 * loop answers status requests at once, whatever its worker does. A daemon that gives none for some
 * seconds has stopped, hangs, or gets no processor time:
 *
 * 	asked -> silent for ASK_MS: is asked for its status, and answers -> asked
 * 	            |-> silent for SILENT_MS, and its process is stopped: given up
 * 	            '-> silent for SILENT_MS, else: reported, and given up after HUNG_MS
 */
#include "daemon/tune/patience.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/lock.h>
#include <ibcc/now.h>

#define LOOK_MS   500u
#define ASK_MS    2000u
#define PROBE_S   3u
#define SILENT_MS 5000u
/* systemd ends a service that gives no sign of life for this long (WatchdogSec). */
#define HUNG_MS 30000u
/* A job that takes longer continues without us. */
#define ANSWER_MS 120000u

/* Is it stopped, by a signal or by a debugger? */
static bool is_stopped(pid_t pid)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	state = strrchr(line, ')'); /* the name may contain any byte */
	return state && (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

/* Does the daemon's event loop answer? A refusal is an answer, too. */
static bool gives_a_sign(const struct tune_patience *p)
{
	json_t *request = json_pack("{ss}", "command", "status"), *answer = NULL;
	int rc = request ? ibcc_jsonl_ask(p->t->config.control_socket, request, PROBE_S, &answer)
			 : -ENOMEM;

	json_decref(answer);
	json_decref(request);
	return !rc;
}

static bool go_on(void *arg, pid_t pid)
{
	struct tune_patience *p = arg;
	uint64_t now = ibcc_now_ms();

	p->pid = pid > 0 ? pid : ibcc_lock_holder(p->t->config.state_file);
	p->stopped = is_stopped(p->pid);
	if (!p->stopped && !p->is_status && now - p->sign_ms >= ASK_MS) {
		p->lives = gives_a_sign(p);
		now = ibcc_now_ms();
		if (p->lives) {
			p->sign_ms = now;
			return now - p->start_ms < ANSWER_MS;
		}
	}
	if (now - p->sign_ms < SILENT_MS)
		return true;
	p->lives = false;
	if (p->stopped || now - p->sign_ms >= HUNG_MS)
		return false;
	if (!p->told)
		fprintf(stderr,
			"ibcc-tune: %s has not answered for %u s, not even to report its status; "
			"waiting "
			"for it, %u s at most\n",
			tune_daemon_text(p), SILENT_MS / 1000, HUNG_MS / 1000);
	p->told = true;
	return true;
}

struct ibcc_jsonl_wait tune_patience(struct tune_patience *p, const struct tune *t, bool is_status)
{
	*p = (struct tune_patience){ .t = t, .is_status = is_status };
	p->start_ms = p->sign_ms = ibcc_now_ms();
	return (struct ibcc_jsonl_wait){ .each_ms = LOOK_MS, .go_on = go_on, .arg = p };
}

const char *tune_daemon_text(struct tune_patience *p)
{
	if (p->pid > 0)
		snprintf(p->name, sizeof(p->name), "ibcc-tuned (pid %d)", (int)p->pid);
	else
		snprintf(p->name, sizeof(p->name), "ibcc-tuned");
	return p->name;
}

int tune_patience_ended(struct tune_patience *p, struct ibcc_why *why)
{
	const char *fabric = p->t->fabric ? p->t->fabric : "", *at = p->t->fabric ? "@" : "";

	if (p->lives)
		return ibcc_why_set(why, -ETIMEDOUT,
				    "%s works, but has not done this within %u s; ibcc-tune status "
				    "says what it is busy with, ibcc-tune history what it has "
				    "written",
				    tune_daemon_text(p), ANSWER_MS / 1000);
	if (p->stopped)
		return ibcc_why_set(why, -EOWNERDEAD,
				    "%s does not answer: its process is stopped, by SIGSTOP or a "
				    "debugger. The settings on the fabric stay as they are, and "
				    "nothing adapts them. End it with \"systemctl kill -s KILL "
				    "ibcc-tuned%s%s\" and repeat this command",
				    tune_daemon_text(p), at, fabric);
	return ibcc_why_set(why, -ETIMEDOUT,
			    "%s has not answered for %u s, not even to report its status. It may "
			    "still write to the fabric. End it with \"systemctl kill -s KILL "
			    "ibcc-tuned%s%s\" and repeat this command",
			    tune_daemon_text(p), HUNG_MS / 1000, at, fabric);
}
