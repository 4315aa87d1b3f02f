/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Descriptions of algorithms from any bytes: refused with the place, or read; then texts are clean
 * and counts are within their bounds.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/ppcc.h>

#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
	char copy[IBCC_PPCC_TEXT_BYTES + 1];
	size_t len = strlen(text);

	FUZZ_CHECK(len <= IBCC_PPCC_TEXT_BYTES);
	memcpy(copy, text, len + 1);
	ibcc_clean(copy, "");
	FUZZ_CHECK(!strcmp(copy, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ibcc_ppcc p;
	struct ibcc_why why = { "" };
	int rc = ibcc_ppcc_read(&p, "FILE", (const char *)data, size, &why);

	FUZZ_CHECK(rc == 0 || rc == -EINVAL);
	FUZZ_CHECK(!rc == !why.text[0]);
	if (rc) {
		unsigned int line, column;

		FUZZ_CHECK(sscanf(why.text, "FILE:%u:%u: got", &line, &column) == 2);
		FUZZ_CHECK(line && column);
		return 0;
	}
	FUZZ_CHECK(p.n_answers);
	for (unsigned int i = 0; i < IBCC_PPCC_SLOTS; i++) {
		const struct ibcc_ppcc_algorithm *s = &p.slot[i];

		FUZZ_CHECK(s->n_parameters <= IBCC_PPCC_PARAMETERS);
		FUZZ_CHECK(s->present || (!s->n_parameters && !s->name[0] && !s->id));
		check_text(s->name);
		check_text(s->about);
		for (unsigned int k = 0; k < s->n_parameters; k++) {
			check_text(s->parameter[k].name);
			check_text(s->parameter[k].about);
		}
	}
	return 0;
}
