/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The column JOB of tables, and the sentence about the map of jobs. */
#ifndef IBCC_TUNE_JOBS_OF_H
#define IBCC_TUNE_JOBS_OF_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* A host has several jobs at a time, and all are named: 8 at most. */
#define TUNE_JOBS_BYTES  256u
#define TUNE_JOB_LEGEND  "jobs that ran on the sender's host; several: nothing tells which sent"
#define TUNE_ROOT_LEGEND "job that contributes most, and how many more do"

/* Whether the daemon knows the jobs of any of these roots. */
bool tune_roots_have_jobs(const json_t *roots);
/* The numbers of the jobs at an adapter: "4711,4712". Returns buf. */
const char *tune_jobs_at(const json_t *adapter, char *buf, size_t len);
/* The same in short: the first job, and how many more there are: "4711 +1". Returns buf. */
const char *tune_first_job_at(const json_t *adapter, char *buf, size_t len);
/* The job that contributes most to a root, and how many more do: "4711 +2". Returns buf. */
const char *tune_job_of_root(const json_t *root, char *buf, size_t len);
/* The map of jobs in a sentence; empty: there is none. Returns buf. */
const char *tune_job_map_text(const json_t *status, char *buf, size_t len);

/* Figures of a job of the command jobs: a time in milliseconds as "45 s", "12 min" or "3.4 h", empty
 * for nothing; with the key `shared` (NULL: none) what it has of shared hosts follows, as "45 s +12 s".
 */
void tune_job_time(const json_t *job, const char *key, const char *shared, char *buf, size_t len);
/* "26 GB"; empty for nothing. */
void tune_job_bytes(json_int_t bytes, char *buf, size_t len);

#endif
