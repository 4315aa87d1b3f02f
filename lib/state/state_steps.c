/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transaction of several steps. Each step is stored durably before it is written, under the
 * number of the first step. So the history, a trial and a rollback see one transaction. The purpose
 * of the steps is stored beside them, so that another process can continue the transaction.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/state/state_db.h"

#define CONTROL  "control"
#define REFINING "refining" /* "TRANSACTION TEXT" */

int ibcc_state_reopen(struct ibcc_state *s, int64_t id, int64_t *first_seq)
{
	/* A step of an older transaction would seem to be older than what was written since. */
	int64_t seq = ibcc_state_ask(
		s->db,
		"SELECT (SELECT coalesce(max(seq), -1) + 1 FROM change WHERE txn = ?1)"
		" FROM txn WHERE id = ?1 AND undone_by IS NULL AND id = (SELECT max(id) FROM txn)",
		id);

	if (seq < 0)
		return -EIO;
	*first_seq = seq;
	return ibcc_state_run(
		s,
		"UPDATE txn AS t SET outcome = 'open', detail = '', ended = NULL,"
		" pid = ?2, sum = " IBCC_STATE_TXN_RESUM("t.undone_by", "'open'") " WHERE id = ?1",
		(const int64_t[]){ id, getpid() }, 2, NULL, 0);
}

int ibcc_state_store_steps(struct ibcc_state *s, const struct ibcc_txn *txn, int64_t id)
{
	char *text = NULL;
	int rc = 0;

	if (txn->control)
		rc = ibcc_state_note_set(s, CONTROL, txn->control);
	if (rc || !txn->refining)
		return rc;
	if (asprintf(&text, "%lld %s", (long long)id, txn->refining) < 0)
		return -EIO;
	rc = ibcc_state_note_set(s, REFINING, text);
	free(text);
	return rc;
}

char *ibcc_state_control(struct ibcc_state *s)
{
	return ibcc_state_note(s, CONTROL);
}

char *ibcc_state_refining(struct ibcc_state *s, int64_t *txn)
{
	char *note = ibcc_state_note(s, REFINING), *text = NULL, *end;

	if (!note)
		return NULL;
	*txn = strtoll(note, &end, 10);
	if (*txn > 0 && *end == ' ')
		text = strdup(end + 1);
	free(note);
	return text;
}

int ibcc_state_end_refining(struct ibcc_state *s, bool all)
{
	int rc = ibcc_state_note_set(s, REFINING, "");

	return rc || !all ? rc : ibcc_state_note_set(s, CONTROL, "");
}
