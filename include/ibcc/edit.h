/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a text file that belongs to the administrator, each of which can be undone.
 *
 * Files can stand beside FILE: FILE.ibcc-before, the last version that was not written here (if it
 * was removed, the one before the change that followed); FILE.ibcc-after, a copy of what was
 * written last; and while a change is under way, FILE.ibcc-next, FILE.ibcc-new and FILE.ibcc-lock.
 * FILE was written here as long as it equals -after or -next, and only then it is undone.
 *
 * However a change ends, also by a crash or a loss of power, FILE is the old one or the new one,
 * and what was there before is in FILE.ibcc-before, or still in FILE.
 */
#ifndef IBCC_EDIT_H
#define IBCC_EDIT_H

#include <stddef.h>
#include <sys/stat.h>

#include <ibcc/why.h>

struct ibcc_edit {
	char *path;       /* absolute; owned */
	const char *name; /* its last part */
	int folder;
	int fd; /* of the file as it was read */
	struct stat st;
	char *text; /* with a NUL behind `len` bytes; owned */
	size_t len;
};

/* Opens a file and reads it. Refuses with *why what another user could turn against us: a path with
 * a link in it (-ELOOP), a folder on the way that others can write to or that belongs to another
 * user than root and ourselves (-EPERM); a folder with the sticky bit, such as /tmp, is only
 * allowed above the file's own. Refuses what cannot be replaced as it is: another thing than a
 * file, a file with a second name, one without any right to write (-EPERM), one of more than `max`
 * bytes (-EFBIG). Or -errno. Whatever it returns, ibcc_edit_close() is to be called.
 */
int ibcc_edit_open(const char *file, size_t max, struct ibcc_edit *e, struct ibcc_why *why);
void ibcc_edit_close(struct ibcc_edit *e);

/* Reads a file that is not to be changed: a link is followed, and neither rights nor owners count.
 * -EFBIG, -EINVAL (no plain file), or -errno. Call ibcc_edit_close() as after ibcc_edit_open(), and
 * none of the functions below.
 */
int ibcc_edit_read(const char *file, size_t max, struct ibcc_edit *e, struct ibcc_why *why);

/* Replaces the file by a new text, with its owner, mode, ACL and other extended attributes, after
 * keeping the old one as FILE.ibcc-before if that was not written here. Hashes of the text by IMA
 * and EVM, labels that this user may not set, and the flags of chattr(1) are not kept. -ESTALE if
 * the file is no more what ibcc_edit_open() read, -EBUSY while another process changes the file by
 * these functions; or -errno. If the file was changed nevertheless, *why says so.
 */
int ibcc_edit_write(struct ibcc_edit *e, const char *text, size_t len, struct ibcc_why *why);

/* Reads FILE.ibcc-before, which ibcc_edit_undo() would put back; the caller frees *text. -ENOENT:
 * there is none. -EALREADY: the file equals it. -ESTALE: the file was not written here.
 */
int ibcc_edit_read_before(const struct ibcc_edit *e, char **text, size_t *len,
			  struct ibcc_why *why);

/* Puts that text back, which ibcc_edit_read_before() has read, and removes the files beside the
 * file. -ESTALE also if FILE.ibcc-before has another text by now. Returns as the two above do.
 */
int ibcc_edit_undo(struct ibcc_edit *e, const char *text, size_t len, struct ibcc_why *why);

/* What is added to the file's name. */
#define IBCC_EDIT_BEFORE ".ibcc-before"

#endif
