/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/token.h"

#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KIND       "$6$" /* SHA-512, 5000 rounds */
#define SALT_CHARS 16u   /* after the prefix */
#define TOKEN_MIN  8u
#define TOKEN_MAX  512u /* with the terminating zero; crypt() takes no more */

char *ibcc_perf_token(const char *file)
{
	char text[TOKEN_MAX + 2];
	FILE *f = fopen(file, "re");
	struct stat st;
	char *token = NULL;

	if (!f || fstat(fileno(f), &st)) {
		fprintf(stderr, "ibcc-perf: %s: %s\n", file, strerror(errno));
	} else if (st.st_mode & 077) {
		fprintf(stderr,
			"ibcc-perf: %s: other users have access to this token: run chmod 600\n",
			file);
	} else if (!fgets(text, sizeof(text), f) || strcspn(text, "\r\n") < TOKEN_MIN ||
		   strcspn(text, "\r\n") >= TOKEN_MAX) {
		fprintf(stderr, "ibcc-perf: %s: want a token of %u to %u bytes in the first line\n",
			file, TOKEN_MIN, TOKEN_MAX - 1);
	} else {
		text[strcspn(text, "\r\n")] = '\0';
		token = strdup(text);
	}
	if (f)
		fclose(f);
	return token;
}

int ibcc_perf_token_salt(char salt[static IBCC_PERF_PROOF_BYTES])
{
	return crypt_gensalt_rn(KIND, 0, NULL, 0, salt, IBCC_PERF_PROOF_BYTES) ? 0 : -errno;
}

int ibcc_perf_token_prove(const char *token, const char *salt,
			  char proof[static IBCC_PERF_PROOF_BYTES])
{
	static const char alphabet[] =
		"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	struct crypt_data *data;
	const char *made;
	int rc = 0;

	if (strncmp(salt, KIND, strlen(KIND)) || strlen(salt) != strlen(KIND) + SALT_CHARS ||
	    strspn(salt + strlen(KIND), alphabet) != SALT_CHARS)
		return -EPROTO;
	data = calloc(1, sizeof(*data));
	if (!data)
		return -ENOMEM;
	made = crypt_rn(token, salt, data, sizeof(*data));
	if (!made ||
	    snprintf(proof, IBCC_PERF_PROOF_BYTES, "%s", made) >= (int)IBCC_PERF_PROOF_BYTES)
		rc = made || errno <= 0 ? -EINVAL : -errno;
	explicit_bzero(data, sizeof(*data));
	free(data);
	return rc;
}

bool ibcc_perf_token_is(const char *want, const char *got)
{
	size_t n = strlen(want), m = strlen(got), i;
	unsigned char differ = n != m;

	for (i = 0; i < n; i++)
		differ |= (unsigned char)(want[i] ^ got[m ? i % m : 0]);
	return !differ;
}
