/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of the programs, to a terminal, to a stream with level prefixes, or to the journal
 * with fields. Each line is one write, so threads never mix theirs.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <ibcc/clean.h>
#include <ibcc/log.h>

#define MESSAGE_BYTES 4096u
#define FIELD_BYTES   768u
#define IDENT_BYTES   32u

enum sink {
	SINK_TERMINAL, /* plain text for people */
	SINK_PREFIXED, /* "<6>text": systemd and others take the level from it */
	SINK_JOURNAL,
};

/* Set once by ibcc_log_open(), before there are threads; only the level changes later. */
static enum sink sink;
static ibcc_log_journal *journal_sendv;
static char ident[IDENT_BYTES] = "ibcc-tune";
static atomic_int max_level = LOG_INFO;

/* Whether stderr is the stream that systemd connected to the journal (JOURNAL_STREAM), and was not
 * redirected since. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

/* Whether a journal runs; otherwise sd_journal_sendv() would drop messages silently. */
static bool has_journal(void)
{
	return !access("/run/systemd/journal/socket", W_OK);
}

void ibcc_log_open(const char *name, enum ibcc_log_target target, ibcc_log_journal *sendv,
		   int level)
{
	bool journal = false;

	switch (target) {
	case IBCC_LOG_AUTO: journal = stderr_is_journal(); break;
	case IBCC_LOG_STDERR: break;
	case IBCC_LOG_JOURNAL: journal = has_journal(); break;
	}
	snprintf(ident, sizeof(ident), "%s", name);
	journal_sendv = sendv;
	sink = journal && sendv        ? SINK_JOURNAL
	       : isatty(STDERR_FILENO) ? SINK_TERMINAL
				       : SINK_PREFIXED;
	atomic_store(&max_level, level);
}

void ibcc_log_set_level(int level)
{
	atomic_store(&max_level, level);
}

static bool is_wanted(int level)
{
	return level <= atomic_load_explicit(&max_level, memory_order_relaxed);
}

/* The level is part of each line, since readers of the stream see lines, not messages. */
static void write_stderr(int level, const char *text)
{
	char buf[MESSAGE_BYTES + 2 * IDENT_BYTES];

	while (*text) {
		size_t len = strcspn(text, "\n");
		int n;

		if (sink == SINK_PREFIXED)
			n = snprintf(buf, sizeof(buf), "<%d>%s: %.*s\n", level, ident, (int)len,
				     text);
		else
			n = snprintf(buf, sizeof(buf), "%s: %.*s\n", ident, (int)len, text);
		/* Nothing can be done about a message that cannot be written. */
		if (n > 0 && write(STDERR_FILENO, buf, strnlen(buf, (size_t)n)) < 0)
			return;
		text += len + (text[len] == '\n');
	}
}

struct fields {
	struct iovec iov[12];
	char buf[12][FIELD_BYTES];
	int n;
};

static void add_field(struct fields *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_field(struct fields *f, const char *fmt, ...)
{
	char *buf = f->buf[f->n];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, FIELD_BYTES, fmt, ap);
	va_end(ap);
	if (len <= 0)
		return;
	ibcc_clean(buf, "");
	f->iov[f->n++] = (struct iovec){ .iov_base = buf, .iov_len = strnlen(buf, (size_t)len) };
}

static void add_text(struct fields *f, const char *name, const char *text)
{
	if (text)
		add_field(f, "%s=%s", name, text);
}

/* Sends fields and a message to the journal. The message has its own buffer, as it may be longer
 * than a field's. */
static void write_journal(struct fields *f, int level, char *message)
{
	add_field(f, "PRIORITY=%d", level);
	add_field(f, "SYSLOG_IDENTIFIER=%s", ident);
	f->iov[f->n++] = (struct iovec){ .iov_base = message, .iov_len = strlen(message) };
	(void)journal_sendv(f->iov, f->n);
}

static void log_text(const char *id, int level, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
static void log_text(const char *id, int level, const char *fmt, va_list ap)
{
	static const char key[] = "MESSAGE=";
	char buf[MESSAGE_BYTES];

	if (!is_wanted(level))
		return;
	memcpy(buf, key, sizeof(key));
	vsnprintf(buf + strlen(key), sizeof(buf) - strlen(key), fmt, ap);
	ibcc_clean(buf, "\n");
	if (sink == SINK_JOURNAL) {
		struct fields f = { .n = 0 };

		add_text(&f, "MESSAGE_ID", id);
		write_journal(&f, level, buf);
	} else {
		write_stderr(level, buf + strlen(key));
	}
}

void ibcc_log(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_text(NULL, level, fmt, ap);
	va_end(ap);
}

void ibcc_log_of(enum ibcc_log_kind kind, int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_text(ibcc_log_id(kind), level, fmt, ap);
	va_end(ap);
}

void ibcc_log_change_event(int level, const char *what, const struct ibcc_log_change *c)
{
	char buf[MESSAGE_BYTES];
	struct fields f = { .n = 0 };

	if (!is_wanted(level))
		return;
	snprintf(buf, sizeof(buf), "MESSAGE=%s: node 0x%016llx port %d: %s: %s -> %s%s%s%s", what,
		 (unsigned long long)c->guid, c->port, c->param ? c->param : "setting",
		 c->old_text ? c->old_text : "?", c->new_text ? c->new_text : "?",
		 c->reason ? " (" : "", c->reason ? c->reason : "", c->reason ? ")" : "");
	ibcc_clean(buf, "");
	if (sink != SINK_JOURNAL) {
		write_stderr(level, strchr(buf, '=') + 1);
		return;
	}
	add_text(&f, "MESSAGE_ID", ibcc_log_id(IBCC_LOG_CHANGE));
	add_field(&f, "IB_GUID=0x%016llx", (unsigned long long)c->guid);
	add_field(&f, "IB_PORT=%d", c->port);
	add_text(&f, "PARAM", c->param);
	add_text(&f, "OLD", c->old_text);
	add_text(&f, "NEW", c->new_text);
	add_text(&f, "REASON", c->reason);
	write_journal(&f, level, buf);
}
