/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The configuration with which both programs start. */
#ifndef IBCC_DAEMON_CONF_H
#define IBCC_DAEMON_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

/* Loads a file, or with NULL the installed one if there is one, and the CC_Key that it names. Puts
 * all errors into *errors as text for a person. Returns 0, or an error such as -EINVAL, and then
 * leaves *c and *cc_key untouched.
 */
int ibcc_conf_load(const char *file, const char *fabric, struct ibcc_config *c, uint64_t *cc_key,
		   struct ibcc_yaml_errors *errors);

/* Loads like ibcc_conf_load(), but accepts a key that this user may not read: then *cc_key is 0 and
 * *no_key says so.
 */
int ibcc_conf_load_keyless(const char *file, const char *fabric, struct ibcc_config *c,
			   uint64_t *cc_key, struct ibcc_yaml_errors *errors,
			   struct ibcc_why *no_key);

/* Is there a file to read? Otherwise all settings have their defaults. */
bool ibcc_conf_has_file(const char *file);

/* The file that ibcc_conf_load() reads. */
const char *ibcc_conf_file(const char *file);

/* Puts the file of a fabric (NULL: the only one) into `path`. Sets *file to it unless *file is set:
 * then that file exists and must be read. -EINVAL: this is not a valid name.
 */
int ibcc_conf_of_fabric(const char *fabric, char *path, size_t len, const char **file);

/* A configuration for when the file is unusable: all defaults but the control socket. That is the
 * file's, if that much of it can be read, because a running daemon listens there.
 */
void ibcc_conf_find_socket(const char *file, const char *fabric, struct ibcc_config *c);

#endif
