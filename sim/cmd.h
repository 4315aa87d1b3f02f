/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of the program; each gets its own argument vector and returns the exit code. */
#ifndef SIM_CMD_H
#define SIM_CMD_H

int ibcc_cmd_run(int argc, char **argv);
int ibcc_cmd_exec(int argc, char **argv);
int ibcc_cmd_ask(int argc, char **argv); /* stats, flows, ports, settings, set, console */

#endif
