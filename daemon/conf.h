/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Configuration as both programs start with it. */
#ifndef IBCC_DAEMON_CONF_H
#define IBCC_DAEMON_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

/* Loads a file, or with NULL the installed one if there is one, and the CC_Key it names. All errors
 * go to *errors as text for a person. Returns 0, or -EINVAL and such; *c and *cc_key are untouched
 * then.
 */
int ibcc_conf_load(const char *file, const char *fabric, struct ibcc_config *c, uint64_t *cc_key,
		   struct ibcc_yaml_errors *errors);

/* The same with a key that this user may not read left out: *cc_key is 0 then, and *no_key says so.
 */
int ibcc_conf_load_keyless(const char *file, const char *fabric, struct ibcc_config *c,
			   uint64_t *cc_key, struct ibcc_yaml_errors *errors,
			   struct ibcc_why *no_key);

/* Whether there is a file to read, or all settings have their defaults. */
bool ibcc_conf_has_file(const char *file);

/* The file that ibcc_conf_load() reads. */
const char *ibcc_conf_file(const char *file);

/* The file of a fabric (NULL: of the only one) goes to path, and *file points to it unless it is
 * set: there is one then, and to be read. -EINVAL: the name is none.
 */
int ibcc_conf_of_fabric(const char *fabric, char *path, size_t len, const char **file);

/* For a configuration that cannot be used: all defaults, but the control socket is the file's where
 * that much of it can be read, since a running daemon listens there.
 */
void ibcc_conf_find_socket(const char *file, const char *fabric, struct ibcc_config *c);

#endif
