/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Any bytes as a node name map, which libosmcomp reads: nodes keep a name, and after the cleaning
 * that follows in the program a terminal can be shown it. Nothing else of an answer changes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <ibcc/clean.h>
#include <ibcc/json.h>

#include "daemon/tune/tune.h"
#include "tests/fuzz/fuzz.h"

/* It loses memory for a GUID that stands twice in a map with a line that it cannot read. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libosmcomp";
}

static const char answer[] =
	"{\"rows\": [{\"node_guid\": \"0x0000000200000100\", \"node\": \"s\u00f6urce1\", \"port\": "
	"1},"
	" {\"node_guid\": \"0xffffffffffffffff\", \"node\": \"HCA-1 of a host\", \"port\": 2},"
	" {\"node_guid\": \"0x0\", \"node\": \"\"}], \"node\": \"kept\"}";

static void check_name(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "node"));
	char clean[4096];

	FUZZ_CHECK(name);
	if (strlen(name) >= sizeof(clean))
		return;
	strcpy(clean, name);
	ibcc_clean(clean, "");
	FUZZ_CHECK(!strcmp(clean, name));
}

/* libosmcomp writes a line to stderr for each line that it cannot read. */
static void rename_quietly(struct tune *t, json_t *o)
{
	static FILE *nowhere;
	FILE *before = stderr;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	FUZZ_CHECK(nowhere);
	stderr = nowhere;
	tune_rename(t, o);
	stderr = before;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loads(answer, 0, NULL), *before = json_loads(answer, 0, NULL), *row;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct tune t = { 0 };
	char path[64];
	size_t i;

	FUZZ_CHECK(o && before && fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t.name_map = path;
	rename_quietly(&t, o);
	close(fd);
	FUZZ_CHECK(!ibcc_json_clean(o));
	json_array_foreach (json_object_get(o, "rows"), i, row) {
		check_name(row);
		json_object_set(row, "node",
				json_object_get(json_array_get(json_object_get(before, "rows"), i),
						"node"));
	}
	FUZZ_CHECK(json_equal(o, before));
	json_decref(before);
	json_decref(o);
	return 0;
}
