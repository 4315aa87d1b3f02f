/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds and reads the configuration file and the CC_Key file that it names, for the daemon and the
 * command line (conf.h).
 */
#include "daemon/conf.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include <ibcc/why.h>

bool ibcc_conf_has_file(const char *file)
{
	return file || !access(IBCC_CONFIG_FILE, F_OK);
}

const char *ibcc_conf_file(const char *file)
{
	return file ? file : IBCC_CONFIG_FILE;
}

int ibcc_conf_of_fabric(const char *fabric, char *path, size_t len, const char **file)
{
	if (!fabric)
		return 0;
	if (!ibcc_config_is_fabric(fabric))
		return -EINVAL;
	snprintf(path, len, IBCC_SYSCONFDIR "/ibcc-tune/%s.yaml", fabric);
	*file = *file ? *file : path;
	return 0;
}

/* The name of our own user, or the number, which chown takes as well. Reads only this host's file,
 * because the daemon's event loop must not wait for a name service.
 */
static void own_user(char *user, size_t len)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd pw = { 0 }, *who = NULL;
	char entry[16384];

	snprintf(user, len, "%u", (unsigned int)geteuid());
	while (f && !fgetpwent_r(f, &pw, entry, sizeof(entry), &who))
		if (who->pw_uid == geteuid()) {
			snprintf(user, len, "%s", who->pw_name);
			break;
		}
	if (f)
		fclose(f);
}

/* Advice about a key file that the daemon cannot read. The service does not run as root, so it has
 * no access to a key that only root may read.
 */
static const char *advice_on_key(int rc, const char *key_file, struct ibcc_why *advice)
{
	char user[33];

	advice->text[0] = '\0';
	if (rc != -EACCES || !access(key_file, R_OK))
		return advice->text;
	own_user(user, sizeof(user));
	ibcc_why_set(advice, 0,
		     "; this program runs as user %s, which must be able to read it: chown %s "
		     "%s; chmod 600 %s",
		     user, user, key_file, key_file);
	return advice->text;
}

int ibcc_conf_load_keyless(const char *file, const char *fabric, struct ibcc_config *c,
			   uint64_t *cc_key, struct ibcc_yaml_errors *errors,
			   struct ibcc_why *no_key)
{
	struct ibcc_config fresh;
	struct ibcc_why why = { "" }, advice;
	uint64_t key = 0;
	int rc = 0;

	ibcc_config_defaults(&fresh, fabric);
	if (ibcc_conf_has_file(file))
		rc = ibcc_config_load(ibcc_conf_file(file), fabric, &fresh, errors);
	if (!rc && fresh.cc_key_file[0]) {
		rc = ibcc_config_read_key(fresh.cc_key_file, &key, why.text, sizeof(why.text));
		/* A file with a wrong mode is different: that is the site's mistake. */
		if (rc == -EACCES && no_key && access(fresh.cc_key_file, R_OK))
			rc = ibcc_why_set(no_key, 0, "cc_key_file: %s", why.text);
		else if (rc)
			ibcc_yaml_errors_add(errors, ibcc_conf_file(file), 0, 0,
					     "cc_key_file: %s%s", why.text,
					     advice_on_key(rc, fresh.cc_key_file, &advice));
	}
	if (rc)
		return rc;
	*c = fresh;
	*cc_key = key;
	return 0;
}

void ibcc_conf_find_socket(const char *file, const char *fabric, struct ibcc_config *c)
{
	ibcc_config_defaults(c, fabric);
	if (ibcc_conf_has_file(file))
		ibcc_config_find_socket(ibcc_conf_file(file), fabric, c);
}

int ibcc_conf_load(const char *file, const char *fabric, struct ibcc_config *c, uint64_t *cc_key,
		   struct ibcc_yaml_errors *errors)
{
	return ibcc_conf_load_keyless(file, fabric, c, cc_key, errors, NULL);
}
