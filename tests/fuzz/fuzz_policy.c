/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policy files from any bytes, with changes of any kind in their first line: refused with an error,
 * or only the digits of these numbers differ, and the changes the other way give the old bytes.
 */
#include <ibcc/policy.h>

#include "tests/fuzz/fuzz.h"

#define MAX_CHANGES 8

static size_t read_changes(const uint8_t *data, size_t size, struct ibcc_policy_change *c)
{
	char line[256], *save = NULL;
	size_t n = 0, len = size < sizeof(line) - 1 ? size : sizeof(line) - 1;
	struct ibcc_why why;

	memcpy(line, data, len);
	line[len] = '\0';
	for (char *arg = strtok_r(line, " ", &save); arg && n < MAX_CHANGES;
	     arg = strtok_r(NULL, " ", &save))
		if (!ibcc_policy_read_change(arg, &c[n], &why))
			n++;
	return n;
}

/* The change of the first place behind `from`; NULL: there is none. */
static const struct ibcc_policy_change *next_of(const struct ibcc_policy_change *c, size_t n,
						size_t from)
{
	const struct ibcc_policy_change *next = NULL;

	for (size_t i = 0; i < n; i++)
		if (c[i].at >= from && (!next || c[i].at < next->at))
			next = &c[i];
	return next;
}

/* Goes through both texts side by side. */
static void check_bytes(const char *text, size_t len, const char *out, size_t out_len,
			const struct ibcc_policy_change *c, size_t n)
{
	const struct ibcc_policy_change *next = next_of(c, n, 0);
	size_t i = 0, k = 0, digits;
	char number[24];

	for (; next; next = next_of(c, n, i)) {
		FUZZ_CHECK(next->at + next->old_len <= len);
		FUZZ_CHECK(k + (next->at - i) <= out_len &&
			   !memcmp(text + i, out + k, next->at - i));
		k += next->at - i;
		i = next->at;
		digits = (size_t)snprintf(number, sizeof(number), "%llu",
					  (unsigned long long)next->old);
		FUZZ_CHECK(digits == next->old_len && !memcmp(text + i, number, digits));
		i += digits;
		digits = (size_t)snprintf(number, sizeof(number), "%llu",
					  (unsigned long long)next->value);
		FUZZ_CHECK(k + digits <= out_len && !memcmp(out + k, number, digits));
		k += digits;
	}
	FUZZ_CHECK(len - i == out_len - k && !memcmp(text + i, out + k, len - i));
}

/* Old numbers may be out of their range, or a min beyond its max: then they are refused. */
static void check_reverse(const char *text, size_t len, const char *out, size_t out_len,
			  const struct ibcc_policy_change *c, size_t n)
{
	struct ibcc_policy_change back[MAX_CHANGES];
	struct ibcc_yaml_errors e = { 0 };
	size_t again_len;
	char *again;

	memcpy(back, c, n * sizeof(*c));
	for (size_t i = 0; i < n; i++)
		back[i].value = c[i].old;
	if (!ibcc_policy_patch("f", out, out_len, back, n, &again, &again_len, &e))
		FUZZ_CHECK(again_len == len && !memcmp(again, text, len));
	else
		FUZZ_CHECK(e.n && !strstr(e.text, "not in the file") && !strstr(e.text, "block"));
	free(again);
	ibcc_yaml_errors_fini(&e);
}

/* What is found is a number that can be changed to what it is. */
static void check_numbers(const char *text, size_t len)
{
	struct ibcc_policy_number number[IBCC_POLICY_NUMBERS_MAX];
	struct ibcc_yaml_errors e = { 0 };
	size_t n, out_len;
	char *out;
	int rc = ibcc_policy_numbers("f", text, len, number, &n, &e);

	FUZZ_CHECK(!rc == !e.n && n < IBCC_POLICY_NUMBERS_MAX);
	ibcc_yaml_errors_fini(&e);
	for (size_t i = 0; i < n; i++) {
		struct ibcc_policy_change c = { .value = number[i].value };

		if (!number[i].is_known)
			continue;
		snprintf(c.key, sizeof(c.key), "%s", number[i].key);
		rc = ibcc_policy_patch("f", text, len, &c, 1, &out, &out_len, &e);
		FUZZ_CHECK(rc || (out_len == len && !memcmp(out, text, len)));
		FUZZ_CHECK(!rc || strstr(e.text, "want a number in") || strstr(e.text, "than the"));
		free(out);
		ibcc_yaml_errors_fini(&e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	struct ibcc_policy_change c[MAX_CHANGES];
	struct ibcc_yaml_errors e = { 0 };
	size_t n, len, out_len;
	const char *text;
	char *out;
	int rc;

	if (!newline)
		return 0;
	n = read_changes(data, (size_t)(newline - data), c);
	text = (const char *)newline + 1;
	len = size - (size_t)(newline + 1 - data);
	rc = ibcc_policy_patch("f", text, len, c, n, &out, &out_len, &e);
	FUZZ_CHECK(!rc == !e.n && !rc == (out != NULL));
	if (!rc) {
		check_bytes(text, len, out, out_len, c, n);
		check_reverse(text, len, out, out_len, c, n);
	}
	free(out);
	ibcc_yaml_errors_fini(&e);
	check_numbers(text, len);
	return 0;
}
