/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of the program; each gets its own argument vector and returns the exit code. */
#ifndef SIM_CMD_H
#define SIM_CMD_H

int ibcc_cmd_run(int argc, char **argv);
int ibcc_cmd_exec(int argc, char **argv);
int ibcc_cmd_ask(int argc, char **argv); /* stats, flows, ports, settings, set, console */

/* Appends the folders sbin to PATH: opensm and infiniband-diags are there, and the PATH of an
 * ordinary user on Debian does not have them. Returns 0 or -ENOMEM.
 */
int ibcc_cmd_path(void);

#endif
