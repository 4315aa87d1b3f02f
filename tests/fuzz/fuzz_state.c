/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state file with anything in it: rows of any content (first byte even), or any file (odd).
 * What is read from it becomes plans, so those must be sound whatever it says.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <unistd.h>

#include "lib/state/state_db.h"

static char path[64];
static struct ibcc_state *rows; /* a database whose rows are replaced for each input, in memory */
static sqlite3_stmt *insert_txn, *insert_change, *insert_trial, *insert_effect, *insert_sample,
	*insert_sender;

static void teardown(void)
{
	char file[80];

	sqlite3_finalize(insert_txn);
	sqlite3_finalize(insert_change);
	sqlite3_finalize(insert_trial);
	sqlite3_finalize(insert_effect);
	sqlite3_finalize(insert_sample);
	sqlite3_finalize(insert_sender);
	ibcc_state_close(rows);
	for (int i = 0; i < 2; i++) {
		static const char *const ends[] = { "", "-journal" };

		snprintf(file, sizeof(file), "%s%s", path, ends[i]);
		unlink(file);
		snprintf(file, sizeof(file), "%s.raw%s", path, ends[i]);
		unlink(file);
	}
}

/* Leaves the file for a copy of it in memory: inputs then cost no system calls. */
static void move_to_memory(struct ibcc_state *s)
{
	sqlite3_backup *b;
	sqlite3 *db;

	FUZZ_CHECK(!sqlite3_open(":memory:", &db) && !ibcc_state_add_sums(db));
	b = sqlite3_backup_init(db, "main", s->db, "main");
	FUZZ_CHECK(b && sqlite3_backup_step(b, -1) == SQLITE_DONE);
	sqlite3_backup_finish(b);
	sqlite3_close(s->db);
	s->db = db;
}

static void setup(void)
{
	int err = 0;

	if (rows)
		return;
	/* In memory where there is such a place: an input takes several syncs. */
	snprintf(path, sizeof(path), "%s/ibcc-fuzz-state.%d",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	rows = ibcc_state_open(path, &err, NULL);
	FUZZ_CHECK(rows);
	move_to_memory(rows);
	FUZZ_CHECK(!sqlite3_prepare_v2(
		rows->db,
		"INSERT OR IGNORE INTO txn (pid, started, ended, who, action, via, summary,"
		" undoes_from, undone_by, detail, outcome) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
		-1, &insert_txn, NULL));
	FUZZ_CHECK(!sqlite3_prepare_v2(
		rows->db,
		"INSERT OR IGNORE INTO change (txn, seq, node_guid, node, port, lid, attr_id,"
		" attr_mod, port_block, old, new, reason, err, status, outcome)"
		" VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		-1, &insert_change, NULL));
	FUZZ_CHECK(!sqlite3_prepare_v2(rows->db,
				       "INSERT OR IGNORE INTO trial (txn, within, until, outcome)"
				       " VALUES (?,?,?,?)",
				       -1, &insert_trial, NULL));
	FUZZ_CHECK(!sqlite3_prepare_v2(rows->db,
				       "INSERT OR IGNORE INTO effect (txn, before, after, passes)"
				       " VALUES (?,?,?,?)",
				       -1, &insert_effect, NULL));
	FUZZ_CHECK(!sqlite3_prepare_v2(rows->db,
				       "INSERT OR IGNORE INTO sample (at, value) VALUES (?,?)", -1,
				       &insert_sample, NULL));
	FUZZ_CHECK(!sqlite3_prepare_v2(rows->db,
				       "INSERT OR IGNORE INTO sender (txn, text) VALUES (?,?)", -1,
				       &insert_sender, NULL));
	atexit(teardown);
}

static const char *settle(void *arg, struct ibcc_change *c)
{
	static const char *const outcomes[] = { "verified", "unmade", "differs", NULL };
	unsigned int *n = arg;

	(void)c;

	return outcomes[(*n)++ % 4];
}

static void look_at(const struct ibcc_plan *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct ibcc_change *c = &p->change[i];

		FUZZ_CHECK(strnlen(c->reason, sizeof(c->reason)) < sizeof(c->reason));
		ibcc_plan_verify(c->attr_id, c->attr_mod, c->new_data, c->old_data);
	}
}

/* Everything that is ever asked of it. */
static void use(struct ibcc_state *s)
{
	struct ibcc_state_sample sample = { .at_s = 1000 };
	const struct ibcc_book *book;
	struct ibcc_plan p = { 0 };
	struct ibcc_trial t;
	struct ibcc_why why;
	unsigned int n = 0;
	int64_t first = 0;
	int err = 0;

	if (!ibcc_state_undo(s, 0, &p, &first, NULL, &why))
		look_at(&p);
	ibcc_plan_fini(&p);
	ibcc_state_settle(s, settle, &n, &why);
	ibcc_state_check(s, &why);
	if (!ibcc_state_book(s, &book, &why) && !ibcc_book_expected(book, &p))
		look_at(&p);
	ibcc_plan_fini(&p);
	json_decref(ibcc_state_history(s, 5, &err));
	for (int64_t id = 1; id < 4; id++) {
		json_t *senders = ibcc_state_senders(s, id);

		if (json_is_array(senders))
			ibcc_state_keep_senders(s, id, id, senders);
		json_decref(senders);
		json_decref(ibcc_state_transaction(s, id, &err));
	}
	ibcc_state_turned_on(s);
	free(ibcc_state_note(s, "paused"));
	if (!ibcc_state_trial(s, &t) && t.pending)
		ibcc_state_trial_end(s, t.txn, "confirmed", "me", &why);
	json_decref(ibcc_state_series(s, &err));
	ibcc_state_before(s, 1, ibcc_state_newest(s), &sample);
	ibcc_state_after(s, 1, ibcc_state_newest(s), 6, &sample);
	ibcc_state_add_sample(s, &sample);
	ibcc_state_prune(s, 1000, 4096);
	ibcc_state_give_up_damaged(s, &why);
}
struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t take(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* One value of any type; blobs are mostly of the length that is right. */
static void bind(sqlite3_stmt *st, int column, struct input *in)
{
	static uint8_t blob[IBCC_CC_DATA_BYTES];
	uint8_t kind = take(in);
	size_t len = kind >> 3;

	if (len > in->size)
		len = in->size;
	switch (kind & 7) {
	case 0: sqlite3_bind_int64(st, column, kind >> 3); return;
	case 1:
		sqlite3_bind_int64(st, column, (int64_t)((uint64_t)take(in) << 56 | take(in)));
		return;
	case 2: sqlite3_bind_double(st, column, kind * 1e9); return;
	case 3:
		sqlite3_bind_text(st, column, (const char *)in->data, (int)len, SQLITE_TRANSIENT);
		break;
	case 4: sqlite3_bind_blob(st, column, in->data, (int)len, SQLITE_TRANSIENT); break;
	case 5: sqlite3_bind_null(st, column); return;
	default:
		memset(blob, kind, sizeof(blob));
		memcpy(blob, in->data, len);
		sqlite3_bind_blob(st, column, blob, sizeof(blob), SQLITE_TRANSIENT);
		break;
	}
	in->data += len;
	in->size -= len;
}

static void insert(sqlite3_stmt *st, struct input *in)
{
	static const char *const words[] = { "pending", "verified", "failed",      "skipped",
					     "differs", "partial",  "interrupted", "broken" };
	int columns = sqlite3_bind_parameter_count(st);

	for (int i = 1; i < columns; i++)
		bind(st, i, in);
	sqlite3_bind_text(st, columns, words[take(in) % 8], -1, SQLITE_STATIC);
	sqlite3_step(st);
	sqlite3_reset(st);
}

static void insert_any(sqlite3_stmt *st, struct input *in)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(st); i++)
		bind(st, i, in);
	sqlite3_step(st);
	sqlite3_reset(st);
}

/* A row of a transaction, with the rest of the input as its text. */
static void insert_rest(sqlite3_stmt *st, int64_t txn, struct input *in)
{
	sqlite3_bind_int64(st, 1, txn);
	sqlite3_bind_text(st, 2, (const char *)in->data, (int)in->size, SQLITE_TRANSIENT);
	in->size = 0;
	sqlite3_step(st);
	sqlite3_reset(st);
}

static void any_rows(struct input *in)
{
	uint8_t sealed;

	sqlite3_exec(
		rows->db,
		"DELETE FROM change; DELETE FROM txn; DELETE FROM sqlite_sequence;"
		" DELETE FROM trial; DELETE FROM effect; DELETE FROM sample; DELETE FROM sender",
		NULL, NULL, NULL);
	for (int i = 0; i < 3; i++)
		insert(insert_txn, in);
	for (int i = 0; i < 16 && in->size; i++)
		insert(insert_change, in);
	/* With sums, without, and with those of some transactions. */
	sealed = take(in) % 5;
	for (int64_t id = 1; id <= sealed; id++)
		FUZZ_CHECK(!ibcc_state_seal(rows, id, 0));
	for (int i = 0; i < 4 && in->size; i++) {
		insert_any(insert_trial, in);
		insert_any(insert_effect, in);
		insert_any(insert_sample, in);
	}
	insert_rest(insert_sender, 1, in);
	rows->book_fresh = false;
	use(rows);
}

static void any_file(struct input *in)
{
	char file[80];
	struct ibcc_why why;
	struct ibcc_state *s;
	int err = 0;
	FILE *f;

	snprintf(file, sizeof(file), "%s.raw", path);
	f = fopen(file, "wb");
	FUZZ_CHECK(f);
	FUZZ_CHECK(fwrite(in->data, 1, in->size, f) == in->size);
	fclose(f);
	s = ibcc_state_open(file, &err, &why);
	FUZZ_CHECK(s || err < 0);
	if (s)
		use(s);
	ibcc_state_close(s);
	unlink(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	setup();
	if (take(&in) % 2)
		any_file(&in);
	else
		any_rows(&in);
	return 0;
}
