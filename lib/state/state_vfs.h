/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How SQLite reaches the state file. Its folder belongs to the daemon's user, and root's command
 * line opens it, too. So that user must not decide what root's SQLite does elsewhere: a journal
 * that somebody puts beside the file can name any other file, which SQLite deletes, and a FIFO in
 * the journal's place holds it for ever.
 */
#ifndef IBCC_STATE_VFS_H
#define IBCC_STATE_VFS_H

/* The name of a VFS for sqlite3_open_v2() that opens regular files only and deletes journals only.
 * NULL, which is SQLite's own one, without memory.
 */
const char *ibcc_state_vfs(void);

#endif
