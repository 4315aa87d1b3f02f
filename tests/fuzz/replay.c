/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a fuzz target over its corpus and over seeded mutations of it, so that every `make check`
 * exercises the targets with any compiler. For a real hunt, `make fuzz` leaves this file out and
 * lets clang drive.
 *
 * usage: fuzz_X FILE|FOLDER...
 * IBCC_FUZZ_MUTATIONS=n   mutations of each input instead of 1000
 * IBCC_FUZZ_SAVE=file     write each input there before it is run: after a crash, the culprit
 */
#include <errno.h>
#include <ftw.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define MAX_INPUT (1u << 20)
#define GROWTH    32u

static unsigned long n_inputs, n_mutations = 1000;
static const char *save;
static uint64_t state;

static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* In a block of exactly its size, for the sanitizers. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy) {
		perror("malloc");
		exit(1);
	}
	memcpy(copy, data, size);
	if (save) {
		FILE *f = fopen(save, "wb");

		if (!f || fwrite(copy, 1, size, f) != size || fclose(f)) {
			perror(save);
			exit(1);
		}
	}
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* Changes buf, which has room for GROWTH more bytes, in one way; returns the new size. */
static size_t mutate(uint8_t *buf, size_t size)
{
	static const uint8_t special[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, '\n', ' ', '0', '-', ':' };
	size_t at = size ? rnd() % size : 0, n, i;

	switch (rnd() % 6) {
	case 0: /* flip a bit */
		if (size)
			buf[at] ^= (uint8_t)(1u << rnd() % 8);
		break;
	case 1: /* a byte with a meaning at some border */
		if (size)
			buf[at] = special[rnd() % sizeof(special)];
		break;
	case 2: /* any byte */
		if (size)
			buf[at] = (uint8_t)rnd();
		break;
	case 3: /* cut off */
		if (rnd() % 4 == 0)
			size = at;
		break;
	case 4: /* grow */
		n = 1 + rnd() % GROWTH;
		for (i = 0; i < n; i++)
			buf[size++] = (uint8_t)rnd();
		break;
	case 5: /* repeat one part over another */
		if (size) {
			size_t from = rnd() % size;

			n = rnd() % (size - (at > from ? at : from) + 1);
			memmove(buf + at, buf + from, n);
		}
		break;
	}
	return size;
}

static void run_mutations(const uint8_t *data, size_t size)
{
	enum { STEPS = 8 };
	uint8_t *buf = malloc(size + STEPS * GROWTH);
	unsigned long i;

	if (!buf) {
		perror("malloc");
		exit(1);
	}
	for (i = 0; i < n_mutations; i++) {
		size_t n = size, steps = 1 + rnd() % STEPS;

		memcpy(buf, data, size);
		while (steps--)
			n = mutate(buf, n);
		run(buf, n);
	}
	free(buf);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	uint8_t *data;
	size_t size;
	FILE *f;

	(void)ftw;
	if (type != FTW_F || st->st_size > (off_t)MAX_INPUT)
		return type == FTW_D ? 0 : EINVAL;
	size = (size_t)st->st_size;
	data = malloc(size + 1);
	f = fopen(path, "rb");
	if (!data || !f || fread(data, 1, size, f) != size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	/* From the contents, so that other inputs do not change this one's mutations. */
	state = size;
	for (size_t i = 0; i < size; i++)
		state = state * 31 + data[i];
	run(data, size);
	run_mutations(data, size);
	free(data);
	n_inputs++;
	return 0;
}

int main(int argc, char **argv)
{
	const char *n = getenv("IBCC_FUZZ_MUTATIONS");

	if (n)
		n_mutations = strtoul(n, NULL, 0);
	save = getenv("IBCC_FUZZ_SAVE");
	/* Each input frees all that it allocated. To give that back to the kernel, and to get it
	 * again for the next input, takes ten times as long as the targets themselves.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (int i = 1; i < argc; i++) {
		if (nftw(argv[i], visit, 8, FTW_PHYS)) {
			fprintf(stderr, "%s: cannot replay\n", argv[i]);
			return 1;
		}
	}
	if (!n_inputs) {
		fprintf(stderr, "%s: no inputs\n", argv[0]);
		return 1;
	}
	printf("%lu inputs and %lu mutations of each\n", n_inputs, n_mutations);
	printf("[  PASSED  ] %lu test(s).\n", n_inputs);
	return 0;
}
