/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of the command policy. */
#ifndef IBCC_TUNE_POLICY_H
#define IBCC_TUNE_POLICY_H

#include <ibcc/edit.h>
#include <ibcc/yaml.h>

#include "daemon/tune/tune.h"

/* Prints why a policy file is refused, and returns TUNE_ERROR. */
int tune_policy_refuse(const struct ibcc_yaml_errors *e);
/* Compares a file that was read with the devices. Returns an exit code. */
int tune_policy_check(struct tune *t, const struct ibcc_edit *e);

#endif
