/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A second writer: does to NVIDIA's attributes what a subnet manager of NVIDIA's is taken to do
 * with its policy, or what an administrator does to one node by hand.
 *
 * nvidia_sm change LID KEY ATTR MOD FIELD=VALUE...
 *	reads an attribute, changes fields, writes it back
 * nvidia_sm show LID KEY ATTR MOD
 *	reads an attribute and prints its data in hexadecimal
 * nvidia_sm policy FILE
 *	writes the lines of FILE, "LID KEY ATTR MOD FIELD=VALUE...", at once, after a SIGHUP, which
 *	reads the file again, and at a node that was silent and answers again. As a policy has all
 *	values, a line writes the whole attribute: what it does not name becomes 0.
 *
 * ATTR is an ID such as 0xff21. FIELD is a name of <ibcc/vendor_cc.h>'s tables, en of
 * SwitchGeneralSettings, en_notify or en_react of HCAGeneralSettings, or byteN of the data.
 * Each write prints its LID, ATTR, MOD and the answer's status, or "silent".
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/ccmad.h>
#include <ibcc/transport.h>
#include <ibcc/vendor_cc.h>

#define LINES_MAX 256u
#define POLL_US   100000u

struct line {
	char text[1024];
	uint16_t lid, attr;
	uint32_t mod;
	uint64_t key;
	const char *fields; /* into text */
	bool done;
};

static struct ibcc_transport *tr;
static volatile sig_atomic_t reload;

static void on_hup(int sig)
{
	(void)sig;
	reload = 1;
}

static int request(const struct line *l, uint8_t method, uint16_t attr, uint32_t mod, uint8_t *data)
{
	struct ibcc_mad_op op = { .lid = l->lid };
	const struct ibcc_mad_header h = { .base_version = 1,
					   .mgmt_class = IBCC_MAD_CLASS_CC,
					   .class_version = IBCC_CC_CLASS_VERSION,
					   .method = method,
					   .attr_id = attr,
					   .attr_mod = mod };

	ibcc_mad_header_pack(op.mad, &h);
	ibcc_cc_key_pack(op.mad, l->key);
	memcpy(op.mad + IBCC_MAD_DATA_OFFS, data, IBCC_VCC_PARAMETER_BYTES);
	if (ibcc_transport_run(tr, &op, 1))
		return -EIO;
	memcpy(data, op.mad + IBCC_MAD_DATA_OFFS, IBCC_VCC_PARAMETER_BYTES);
	return op.err == -EREMOTEIO ? op.status : op.err;
}

static bool set_field(uint16_t attr, uint8_t *data, const char *name, uint32_t v)
{
	static const struct {
		uint16_t attr;
		const char *name;
		struct ibcc_vcc_field f;
	} bits[] = {
		{ IBCC_VCC_ATTR_SW_GENERAL, "en", { "en", 0, 24, 1 } },
		{ IBCC_VCC_ATTR_CA_GENERAL, "en_notify", { "en_notify", 0, 31, 1 } },
		{ IBCC_VCC_ATTR_CA_GENERAL, "en_react", { "en_react", 0, 30, 1 } },
	};
	unsigned int n, byte;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr, &n);

	if (sscanf(name, "byte%u", &byte) == 1 && byte < IBCC_VCC_PARAMETER_BYTES) {
		data[byte] = (uint8_t)v;
		return true;
	}
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (bits[i].attr == attr && !strcmp(bits[i].name, name)) {
			ibcc_vcc_field_set(data, &bits[i].f, v);
			return true;
		}
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(f[i].name, name)) {
			ibcc_vcc_field_set(data, &f[i], v);
			return true;
		}
	return false;
}

/* Writes a line; `whole`: from nothing. Returns the answer's status, or a negative errno. */
static int write_line(const struct line *l, bool whole)
{
	uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0 };
	char fields[sizeof(l->text)], *save = NULL, *eq;
	int rc = whole ? 0 : request(l, IBCC_MAD_GET, l->attr, l->mod, data);

	snprintf(fields, sizeof(fields), "%s", l->fields);
	for (char *f = strtok_r(fields, " \n", &save); f && !rc; f = strtok_r(NULL, " \n", &save)) {
		eq = strchr(f, '=');
		if (eq)
			*eq = '\0';
		if (!eq || !set_field(l->attr, data, f, (uint32_t)strtoul(eq + 1, NULL, 0))) {
			fprintf(stderr, "nvidia_sm: no field %s in 0x%04x\n", f, l->attr);
			exit(2);
		}
	}
	if (!rc)
		rc = request(l, IBCC_MAD_SET, l->attr, l->mod, data);
	if (rc < 0)
		printf("%u 0x%04x %u silent\n", l->lid, l->attr, l->mod);
	else
		printf("%u 0x%04x %u 0x%04x\n", l->lid, l->attr, l->mod, (unsigned int)rc);
	fflush(stdout);
	return rc;
}

static bool parse(struct line *l)
{
	unsigned int lid, attr;
	unsigned long long key;
	int at = 0;

	if (sscanf(l->text, "%u %lli %x %u %n", &lid, (long long *)&key, &attr, &l->mod, &at) < 4)
		return false;
	l->lid = (uint16_t)lid;
	l->attr = (uint16_t)attr;
	l->key = key;
	l->fields = l->text + at;
	return true;
}

static unsigned int read_policy(const char *path, struct line *line)
{
	FILE *f = fopen(path, "re");
	unsigned int n = 0;

	while (f && n < LINES_MAX && fgets(line[n].text, sizeof(line[n].text), f)) {
		line[n].done = false;
		n += parse(&line[n]);
	}
	if (f)
		fclose(f);
	return n;
}

static void serve(const char *path)
{
	static struct line line[LINES_MAX];
	unsigned int n = read_policy(path, line), wrote = 1;

	signal(SIGHUP, on_hup);
	for (;; usleep(POLL_US)) {
		if (reload) {
			reload = 0;
			n = read_policy(path, line);
		}
		for (unsigned int i = 0; i < n; i++) {
			uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0 };
			int rc;

			if (i && line[i].lid == line[i - 1].lid)
				continue; /* one question for each node */
			rc = request(&line[i], IBCC_MAD_GET, IBCC_VCC_ATTR_INFO, 0, data);
			for (unsigned int k = 0; k < n && rc < 0; k++)
				if (line[k].lid == line[i].lid)
					line[k].done = false;
			for (unsigned int k = 0; k < n && rc >= 0; k++)
				if (line[k].lid == line[i].lid && !line[k].done) {
					line[k].done = write_line(&line[k], true) >= 0;
					wrote++;
				}
		}
		if (wrote)
			puts("rest");
		fflush(stdout);
		wrote = 0;
	}
}

static int show(const struct line *l)
{
	uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0 };
	int rc = request(l, IBCC_MAD_GET, l->attr, l->mod, data);

	for (unsigned int i = 0; i < sizeof(data) && !rc; i++)
		printf("%02x", data[i]);
	puts("");
	return rc;
}

int main(int argc, char **argv)
{
	const struct ibcc_umad_options o = { .timeout_ms = 500, .retries = 1 };
	struct line l = { .done = false };
	char why[256];
	int err;

	if (argc < 3 || !(tr = ibcc_umad_open(&o, &err, why, sizeof(why)))) {
		fprintf(stderr, "nvidia_sm: %s\n", argc < 3 ? "want arguments" : why);
		return 2;
	}
	if (!strcmp(argv[1], "policy"))
		serve(argv[2]);
	for (int i = 2; i < argc; i++)
		snprintf(l.text + strlen(l.text), sizeof(l.text) - strlen(l.text), "%s ", argv[i]);
	if ((strcmp(argv[1], "change") != 0 && strcmp(argv[1], "show") != 0) || !parse(&l))
		return 2;
	err = strcmp(argv[1], "show") ? write_line(&l, false) : show(&l);
	ibcc_transport_free(tr);
	return err != 0;
}
