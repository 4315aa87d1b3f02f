/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The settings on a fabric that are ours. For each attribute that we wrote and did not revert, the
 * book has the value from before our first write, and the value of the last one.
 */
#ifndef IBCC_BOOK_H
#define IBCC_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/plan.h>
#include <ibcc/settings.h>

/* What a write is for. */
enum ibcc_book_act {
	IBCC_BOOK_MAKE,
	IBCC_BOOK_OFF,  /* a user wants no congestion control there: that is what we leave behind */
	IBCC_BOOK_BACK, /* reverts: what is there then is not ours */
};

struct ibcc_book_entry {
	uint64_t node_guid;
	uint32_t attr_mod;
	uint16_t lid, attr_id;
	uint8_t port, port_block;
	bool certain;                       /* `last` was read back; else it may be there, or not */
	bool back;                          /* the last write was BACK, and left this */
	int64_t first_txn, txn;             /* transactions of the first and of the last write */
	uint8_t before[IBCC_CC_DATA_BYTES]; /* our first write */
	uint8_t last[IBCC_CC_DATA_BYTES];
	uint8_t *off; /* what OFF left there; owned; NULL: it was never made OFF */
};

/* Zero is an empty book. Entries are in order of node_guid, port, attr_id, attr_mod: which happens
 * to be the order in which a node wants its attributes.
 */
struct ibcc_book {
	uint32_t n, cap;
	struct ibcc_book_entry **entry; /* owned */
};

void ibcc_book_fini(struct ibcc_book *b);

/* Writes a change down that transaction `txn` made (`certain`), or may have made. CC_Keys are no
 * settings and left out. -ENOMEM.
 */
int ibcc_book_note(struct ibcc_book *b, const struct ibcc_change *c, int64_t txn,
		   enum ibcc_book_act act, bool certain);

/* The entry for a change's attribute; NULL if there is none. */
const struct ibcc_book_entry *ibcc_book_find(const struct ibcc_book *b,
					     const struct ibcc_change *c);

/* An entry as a change, from before our first write to the last one. */
struct ibcc_change ibcc_book_change(const struct ibcc_book_entry *e);

/* The index behind the entries of the endport that entry `i`, its first, is of. */
uint32_t ibcc_book_end(const struct ibcc_book *b, uint32_t i);
/* Was what we wrote there last what it had without us? Then there is nothing of ours. */
bool ibcc_book_is_back(const struct ibcc_book *b, uint32_t i);

/* Forgets the entry for a change's attribute. */
void ibcc_book_drop(struct ibcc_book *b, const struct ibcc_change *c);

/* Forgets all that transaction `from` and later ones began: a rollback has reverted it completely.
 */
void ibcc_book_forget(struct ibcc_book *b, int64_t from);

/* First and last values as old and new ones of a plan; its reverse takes all back. *plan is
 * initialised by the call; *first is the number of the oldest transaction, 0 if there is none.
 * -ENOMEM.
 */
int ibcc_book_joined(const struct ibcc_book *b, struct ibcc_plan *plan, int64_t *first);

/* Sets *plan to what should be on the fabric because of us, with the values from before our first
 * write as its old ones. Leaves out what is not certain, and blocks behind the present end of a
 * table. -ENOMEM.
 */
int ibcc_book_expected(const struct ibcc_book *b, struct ibcc_plan *plan);

/* Turns settings of one endport, as read from it, into those that it would have without us: an
 * attribute that is as we left it last becomes what it was before our first write, or since it was
 * made OFF; what others wrote since stays. Returns whether anything is another one then.
 */
bool ibcc_book_without(const struct ibcc_book *b, uint64_t node_guid, uint8_t port,
		       struct ibcc_endport_cc *ep);

#endif
