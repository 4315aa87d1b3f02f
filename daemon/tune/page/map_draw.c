/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Draws a laid-out map (map.h) as SVG: the paths that lead to congestion, then the switches with
 * their adapters.
 */
#include "daemon/tune/page/map.h"

#include <math.h>
#include <stdlib.h>

#include <ibcc/plot.h>
#include <ibcc/text.h>

#include "daemon/tune/jobs_of.h"
#include "daemon/tune/look.h"

/* smallest share of its size: on a phone the map scrolls and does not shrink */
#define READABLE              0.92
#define NAME_BYTES            16 /* length of an adapter's name beside its rate */
#define NAME_BYTES_BESIDE_JOB 8
#define JOB_BYTES             7    /* length of an adapter's jobs */
#define RATE_WIDTH            52.0 /* room for a rate at the right edge */
#define HEAD_BYTES            22   /* length of a switch's name */
#define DOT                   7.0
#define LABELS                6u /* label paths if there are at most this many */

/* Uses the page's colours, or its own where there is no page. */
static const char style[] =
	"<style>.map .box{fill:var(--box,#f6f7f8);stroke:var(--line,#d9dee3)}"
	".map .rest{fill:none;stroke:var(--line,#d9dee3);stroke-dasharray:4 3}"
	".map .way{fill:none;stroke:var(--link,#9aa5b0);stroke-width:1.2}"
	".map .hot{fill:none;stroke:var(--hot,#d55e00);stroke-width:3.5}"
	".map .warm{fill:none;stroke:var(--hot,#d55e00);stroke-width:1.3}"
	".map .tip{fill:var(--hot,#d55e00)}"
	".map .role0{fill:none;stroke:var(--link,#9aa5b0);stroke-width:1.5}"
	".map .role1{fill:var(--unsure,#8a6d00)}.map .role2{fill:var(--victim,#0072b2)}"
	".map .role3{fill:var(--hot,#d55e00)}.map .role4{fill:var(--root,#c0392b)}"
	".map .in{fill:var(--ground,#fff);font-size:10px;font-weight:700}"
	".map .halo{paint-order:stroke;stroke:var(--ground,#fff);stroke-width:4px;"
	"stroke-linejoin:round}.map .num{font-variant-numeric:tabular-nums}</style>\n";

static void text(FILE *out, double x, double y, const char *attr, const char *words)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attr);
	ibcc_plot_text(out, words);
	fputs("</text>\n", out);
}

/* A dot with a letter or a number, for readers with colour blindness. */
static void dot(FILE *out, double x, double y, enum tune_map_role role, unsigned int root)
{
	static const char *const letter[] = { "", "?", "V", "C", "" };
	char number[16];

	fprintf(out, "<circle class=\"role%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", (int)role,
		x, y, role == TUNE_MAP_OTHER ? DOT - 2 : DOT);
	snprintf(number, sizeof(number), "%u", root);
	if (role != TUNE_MAP_OTHER)
		text(out, x, y + 3.5,
		     root < 10 || role != TUNE_MAP_SINK
			     ? "class=\"in\" text-anchor=\"middle\""
			     : "class=\"in\" text-anchor=\"middle\" textLength=\"10\"",
		     role == TUNE_MAP_SINK ? number : letter[role]);
}

/* A path from one switch to another: all links between both as one line. */
struct way {
	uint32_t from, to;
	unsigned int n, root;
	double mbps;      /* in the direction of the root; below zero: unknown */
	unsigned int hot; /* first root that it leads to; 0: none */
};

/* Paths of the worst root are drawn above those of other roots, and these above the rest. */
enum warmth { COLD, WARM, HOT };

static enum warmth warmth_of(const struct way *w)
{
	return w->hot == 1 ? HOT : w->hot ? WARM : COLD;
}

static void add_to_way(struct way *w, const struct tune_map_link *l)
{
	bool ahead = w->from == l->a;
	unsigned int hot = ahead ? l->hot_a : l->hot_b;
	double mbps = ahead ? l->from_a : l->from_b;

	w->n++;
	if (hot && (!w->hot || hot < w->hot))
		w->hot = hot;
	if (ahead ? l->root_a : l->root_b)
		w->root = ahead ? l->root_a : l->root_b;
	if (hot && mbps >= 0)
		w->mbps = fmax(w->mbps, 0) + mbps;
}

/* Finds the paths between shown switches, with those that lead to roots in that direction. The
 * caller owns the array.
 */
static struct way *find_ways(const struct tune_map *m, size_t *n)
{
	struct way *ways = calloc(m->n_links + 1u, sizeof(*ways));

	*n = 0;
	for (uint32_t i = 0; ways && i < m->n_links; i++) {
		const struct tune_map_link *l = &m->link[i];
		const struct tune_map_node *a = &m->node[l->a], *b = &m->node[l->b];
		bool turn = l->hot_b && (!l->hot_a || l->hot_b < l->hot_a);
		uint32_t from = turn ? l->b : l->a, to = turn ? l->a : l->b;
		size_t k;

		if (!a->is_switch || !b->is_switch || !a->shown || !b->shown)
			continue;
		for (k = 0; k < *n; k++)
			if ((ways[k].from == from && ways[k].to == to) ||
			    (!l->hot_a && !l->hot_b && ways[k].from == to && ways[k].to == from))
				break;
		if (k == *n)
			ways[(*n)++] = (struct way){ .from = from, .to = to, .mbps = -1 };
		add_to_way(&ways[k], l);
	}
	return ways;
}

struct line {
	double x0, y0, cx, cy, x1, y1; /* a quadratic curve */
};

static struct line line_of(const struct tune_map *m, const struct way *w)
{
	const struct tune_map_node *a = &m->node[w->from], *b = &m->node[w->to];
	struct line l = { .x0 = a->x, .x1 = b->x };

	l.y0 = a->level > b->level ? a->y + TUNE_MAP_HEAD : a->y;
	l.y1 = b->level > a->level ? b->y + TUNE_MAP_HEAD : b->y;
	l.cx = (l.x0 + l.x1) / 2;
	l.cy = (l.y0 + l.y1) / 2;
	if (a->level == b->level)
		l.cy -= 84;
	return l;
}

/* Draws a point of the line, and an arrowhead that shows its direction. */
static void tip(FILE *out, const struct line *l, double at)
{
	double x = (1 - at) * (1 - at) * l->x0 + 2 * at * (1 - at) * l->cx + at * at * l->x1;
	double y = (1 - at) * (1 - at) * l->y0 + 2 * at * (1 - at) * l->cy + at * at * l->y1;
	double dx = (1 - at) * (l->cx - l->x0) + at * (l->x1 - l->cx);
	double dy = (1 - at) * (l->cy - l->y0) + at * (l->y1 - l->cy);

	fprintf(out,
		"<path class=\"tip\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" "
		"d=\"M-7 -7L9 0L-7 7Z\"/>\n",
		x, y, atan2(dy, dx) * 180 / 3.14159265358979);
}

static void draw_line(FILE *out, const struct line *l, enum warmth warmth)
{
	static const char *const class[] = { [COLD] = "way", [WARM] = "warm", [HOT] = "hot" };

	fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"/>\n", class[warmth],
		l -> x0, l -> y0, l -> cx, l -> cy, l -> x1, l -> y1);
}

/* Labels a path with its rate. */
static void label(const struct tune_map *m, const struct way *w, const struct line *l, size_t turn,
		  FILE *out)
{
	unsigned int from = m->node[w->from].level, to = m->node[w->to].level;
	/* An arc has the label in its middle. Lines between levels have it near the lower level,
	 * where they are apart.
	 */
	double low = 0.25 + 0.14 * (double)(turn % 2);
	double at = from == to ? 0.5 : from < to ? low : 1 - low;
	char rate[32], words[64];

	if (w->mbps < 0)
		return;
	snprintf(words, sizeof(words), "%s %s", tune_rate(w->mbps, rate, sizeof(rate)),
		 tune_rate_unit());
	text(out, (1 - at) * (1 - at) * l->x0 + 2 * at * (1 - at) * l->cx + at * at * l->x1,
	     (1 - at) * (1 - at) * l->y0 + 2 * at * (1 - at) * l->cy + at * at * l->y1 +
		     (from == to ? -8 : 4),
	     "class=\"halo num\" text-anchor=\"middle\"", words);
}

static void draw_lines(const struct tune_map *m, const struct way *ways, size_t n, FILE *out)
{
	for (int warmth = COLD; warmth <= HOT; warmth++)
		for (size_t i = 0; i < n; i++) {
			struct line l = line_of(m, &ways[i]);

			if ((int)warmth_of(&ways[i]) == warmth)
				draw_line(out, &l, warmth_of(&ways[i]));
		}
}

static void draw_ways(const struct tune_map *m, FILE *out)
{
	size_t n, n_hot = 0, turn = 0, i;
	struct way *ways = find_ways(m, &n);

	if (!ways)
		return;
	draw_lines(m, ways, n, out);
	for (i = 0; i < n; i++)
		n_hot += warmth_of(&ways[i]) == HOT;
	for (i = 0; i < n; i++) {
		struct line l = line_of(m, &ways[i]);

		if (warmth_of(&ways[i]) == HOT)
			tip(out, &l, 0.9);
		if (warmth_of(&ways[i]) == HOT && n_hot <= LABELS)
			label(m, &ways[i], &l, turn++, out);
		if (ways[i].root)
			dot(out, 0.84 * l.x0 + 0.16 * l.cx, 0.84 * l.y0 + 0.16 * l.cy,
			    TUNE_MAP_SINK, ways[i].root);
	}
	free(ways);
}

static void draw_host(const struct tune_map *m, const struct tune_map_node *h, double x, double y,
		      FILE *out)
{
	char cut[NAME_BYTES + 8], rate[32], jobs[TUNE_JOBS_BYTES], job[JOB_BYTES + 8];
	char first[TUNE_JOBS_BYTES];
	bool has_jobs = tune_jobs_at(h->adapter, jobs, sizeof(jobs))[0];

	(void)m;
	fputs("<g><title>", out);
	ibcc_plot_text(out, h->name);
	fputc(' ', out);
	ibcc_plot_text(out, h->guid);
	if (has_jobs) {
		fputs(", job ", out);
		ibcc_plot_text(out, jobs);
	}
	fputs("</title>\n", out);
	dot(out, x + 14, y + TUNE_MAP_ROW / 2, h->role, h->root);
	text(out, x + 28, y + TUNE_MAP_ROW / 2 + 4,
	     h->role == TUNE_MAP_OTHER ? "class=\"soft\"" : "",
	     ibcc_plot_cut(h->name, has_jobs ? NAME_BYTES_BESIDE_JOB : NAME_BYTES, cut,
			   sizeof(cut)));
	if (has_jobs)
		text(out, x + TUNE_MAP_BOX - RATE_WIDTH, y + TUNE_MAP_ROW / 2 + 4,
		     "class=\"soft num\" text-anchor=\"end\" font-size=\"10\"",
		     ibcc_plot_cut(tune_first_job_at(h->adapter, first, sizeof(first)), JOB_BYTES,
				   job, sizeof(job)));
	if (h->mbps >= 0)
		text(out, x + TUNE_MAP_BOX - 8, y + TUNE_MAP_ROW / 2 + 4,
		     "class=\"soft num\" text-anchor=\"end\"",
		     tune_rate(h->mbps, rate, sizeof(rate)));
	fputs("</g>\n", out);
}

static void draw_switch(const struct tune_map *m, uint32_t sw, FILE *out)
{
	const struct tune_map_node *n = &m->node[sw];
	uint32_t host[TUNE_MAP_HOSTS];
	unsigned int all = tune_map_hosts(m, sw, host, TUNE_MAP_HOSTS);
	unsigned int shown = all < TUNE_MAP_HOSTS ? all : TUNE_MAP_HOSTS;
	double x = n->x - TUNE_MAP_BOX / 2, y = n->y + TUNE_MAP_HEAD;
	double height = TUNE_MAP_HEAD + (shown + (all > shown)) * TUNE_MAP_ROW + (all ? 6 : 0);
	char cut[HEAD_BYTES + 8], more[48];

	fprintf(out,
		"<g><title>%s</title><rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\" rx=\"6\"/></g>\n",
		n->guid, x, n->y, TUNE_MAP_BOX, height);
	text(out, n->x, n->y + 20, "text-anchor=\"middle\" font-weight=\"600\"",
	     ibcc_plot_cut(n->name, HEAD_BYTES, cut, sizeof(cut)));
	for (unsigned int i = 0; i < shown; i++, y += TUNE_MAP_ROW)
		draw_host(m, &m->node[host[i]], x, y, out);
	snprintf(more, sizeof(more), "and %u more", all - shown);
	if (all > shown)
		text(out, x + 28, y + TUNE_MAP_ROW / 2 + 4, "class=\"soft\"", more);
}

static void draw_fold(const struct tune_map_fold *f, FILE *out)
{
	char words[2][48];

	snprintf(words[0], sizeof(words[0]), "%u more switch%s", f->n_switches,
		 ibcc_text_plural(f->n_switches, "", "es"));
	snprintf(words[1], sizeof(words[1]), "with %u adapter%s", f->n_hosts,
		 ibcc_text_plural(f->n_hosts, "", "s"));
	fprintf(out,
		"<rect class=\"rest\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		"rx=\"6\"/>\n",
		f->x - TUNE_MAP_BOX / 2, f->y, TUNE_MAP_BOX,
		f->n_hosts ? TUNE_MAP_HEAD + 18 : TUNE_MAP_HEAD);
	text(out, f->x, f->y + 20, "class=\"soft\" text-anchor=\"middle\"", words[0]);
	if (f->n_hosts)
		text(out, f->x, f->y + 37, "class=\"soft\" text-anchor=\"middle\"", words[1]);
}

void tune_map_draw(const struct tune_map *m, FILE *out)
{
	fprintf(out,
		"<svg class=\"map\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" height=\"%.0f\" style=\"min-width:%.0fpx\" "
		"font-family=\"system-ui, 'DejaVu Sans', "
		"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"the fabric\">\n%s",
		m->width, m->height, m->width, m->height, READABLE * m->width, style);
	draw_ways(m, out);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (m->node[i].is_switch && m->node[i].shown)
			draw_switch(m, i, out);
	for (unsigned int level = 1; level <= m->n_levels; level++)
		if (m->fold[level].n_switches)
			draw_fold(&m->fold[level], out);
	fputs("</svg>\n", out);
}
