/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How SQLite reaches the state file. The file's folder belongs to the daemon's user, and root's
 * command line opens the file, too. So the daemon's user must not decide what root's SQLite does
 * elsewhere. A forged journal beside the file can name any other file, which SQLite then deletes. A
 * FIFO in the journal's place blocks SQLite for ever.
 */
#ifndef IBCC_STATE_VFS_H
#define IBCC_STATE_VFS_H

/* The name of a VFS for sqlite3_open_v2() that opens regular files only and deletes journals only.
 * Without memory the result is NULL, which stands for SQLite's own VFS.
 */
const char *ibcc_state_vfs(void);

#endif
