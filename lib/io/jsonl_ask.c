/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON lines: the client's end. */
#include <ibcc/jsonl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/json.h>

#include "lib/io/jsonl_place.h"

static int send_text(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_answer(FILE *f, json_t **answer)
{
	json_t *o = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);

	if (json_is_object(o) && !ibcc_json_clean(o)) {
		*answer = o;
		return 0;
	}
	json_decref(o);
	if (ferror(f))
		return -errno;
	return feof(f) ? -ECONNRESET : -EPROTO;
}

int ibcc_jsonl_ask(const char *address, const json_t *request, unsigned int timeout_s,
		   json_t **answer)
{
	struct timeval limit = { .tv_sec = (time_t)timeout_s };
	char *text = json_dumps(request, JSON_COMPACT);
	FILE *f = NULL;
	struct ibcc_place place;
	int fd = -1, rc;

	*answer = NULL;
	rc = text ? ibcc_place_of(address, &place) : -ENOMEM;
	if (rc)
		goto out;
	fd = ibcc_place_dial(&place, &limit);
	rc = fd < 0 ? fd : 0;
	if (!rc && !(f = fdopen(fd, "r")))
		rc = -errno;
	if (!rc)
		rc = send_text(fd, text, strlen(text));
	if (!rc)
		rc = send_text(fd, "\n", 1);
	/* Who hangs up at once may have said why. */
	if (!rc || rc == -EPIPE)
		rc = read_answer(f, answer);
	if (rc == -EAGAIN)
		rc = -ETIMEDOUT;
out:
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}
