/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plots as SVG: curves over time or over a parameter, with axes, marks and names (plot.h). Begin
 * with draw().
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <ibcc/plot.h>

#define TICKS       5    /* steps of the y axis, about */
#define NAME        19   /* characters of a name that fit beside the plot */
#define DOTS        32   /* curves with at most this many points show them */
#define NAME_ROW    18.0 /* height of a row of two names above a narrow plot */
#define NAME_WIDE   190.0
#define MARK_ROWS   3
#define MARK_LETTER 7.0 /* width of a letter of a mark */

/* The size of a picture, and the margins of the plot in it. */
struct frame {
	double width, height, left, right, top, bottom;
	int x_ticks; /* steps of the x axis, about */
};

static const struct frame wide = { 860, 320, 64, 150, 44, 46, 8 };
static const struct frame narrow = { 420, 260, 52, 24, 44, 42, 5 };

/* Okabe and Ito's palette, the yellow left out: too pale on white. */
static const char *const colour[IBCC_PLOT_MAX_SERIES] = {
	"#d55e00", "#0072b2", "#000000", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f",
};

struct scale {
	struct frame f;
	double x0, x1, y1, ystep;
	bool x_log, x_clock;
};

/* The frame of a plot. A narrow plot has rows of names above it. */
static struct frame frame_of(const struct ibcc_plot *p)
{
	struct frame f = p->narrow ? narrow : wide;

	if (p->narrow && p->n_series > 1) {
		double rows = NAME_ROW * (double)((p->n_series + 1) / 2);

		f.top += rows;
		f.height += rows;
	}
	return f;
}

static double px(const struct scale *s, double x)
{
	double share =
		s->x_log ? log(x / s->x0) / log(s->x1 / s->x0) : (x - s->x0) / (s->x1 - s->x0);

	return s->f.left + share * (s->f.width - s->f.left - s->f.right);
}

static double py(const struct scale *s, double y)
{
	return s->f.height - s->f.bottom - y / s->y1 * (s->f.height - s->f.top - s->f.bottom);
}

/* The least of 1, 2, 2.5, 5 times a power of ten that covers v in n steps. */
static double round_step(double v, int n)
{
	static const double step[] = { 1, 2, 2.5, 5, 10 };
	double base;
	size_t i;

	if (!(v > 0))
		return 1;
	base = pow(10, floor(log10(v / n)));
	for (i = 0; i < 4; i++)
		if (step[i] * base * n >= v)
			break;
	return step[i] * base;
}

static struct scale find_scale(const struct ibcc_plot *p)
{
	struct scale s = { .f = frame_of(p), .x0 = INFINITY, .x1 = -INFINITY };
	size_t i, k;

	for (k = 0; k < p->n_series; k++) {
		const struct ibcc_plot_series *c = &p->series[k];

		for (i = 0; i < c->n; i++) {
			if (isnan(c->y[i]))
				continue;
			s.x0 = fmin(s.x0, c->x[i]);
			s.x1 = fmax(s.x1, c->x[i]);
			s.y1 = fmax(s.y1, c->y[i]);
		}
	}
	s.y1 = fmax(s.y1, p->y_line) * 1.02;
	if (p->y_end > 0)
		s.y1 = fmin(s.y1, p->y_end);
	s.ystep = round_step(s.y1, TICKS);
	s.y1 = s.y1 > 0 ? ceil(s.y1 / s.ystep) * s.ystep : TICKS;
	if (!(s.x1 > s.x0)) {
		s.x0 = isfinite(s.x0) ? s.x0 : 0;
		s.x1 = s.x0 + 1;
	}
	s.x_log = p->x_log && s.x0 > 0;
	s.x_clock = p->x_clock;
	/* An axis that would begin near zero begins at zero. */
	if (!s.x_log && !s.x_clock && s.x0 > 0 && s.x0 < (s.x1 - s.x0) / 10)
		s.x0 = 0;
	return s;
}

void ibcc_plot_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(*text, out); break;
		}
	}
}

static void text_at(FILE *out, double x, double y, const char *attr, const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attr);
	ibcc_plot_text(out, text);
	fputs("</text>\n", out);
}

static void label_x(const struct scale *s, double v, double step, FILE *out)
{
	long second = s->x_clock ? lround(v * 3600) : 0;
	char label[32];

	if (s->x_clock && step * 60 < 1)
		snprintf(label, sizeof(label), "%02ld:%02ld:%02ld", second / 3600 % 24,
			 second / 60 % 60, second % 60);
	else if (s->x_clock)
		snprintf(label, sizeof(label), "%02ld:%02ld", second / 3600 % 24, second / 60 % 60);
	else
		snprintf(label, sizeof(label), "%.10g", v);
	text_at(out, px(s, v), s->f.height - s->f.bottom + 18, "text-anchor=\"middle\"", label);
}

/* The least usual step of a clock, in hours, that covers v hours in n steps. */
static double clock_step(double v, int n)
{
	static const double seconds[] = { 1,   2,   5,    10,   15,   30,    60,    120,  300,
					  600, 900, 1800, 3600, 7200, 10800, 21600, 43200 };
	size_t i;

	for (i = 0; i + 1 < sizeof(seconds) / sizeof(seconds[0]); i++)
		if (seconds[i] * n >= v * 3600)
			break;
	return seconds[i] / 3600;
}

static void label_x_axis(const struct scale *s, FILE *out)
{
	static const double digit[] = { 1, 2, 5 };
	double step = (s->x_clock ? clock_step : round_step)(s->x1 - s->x0, s->f.x_ticks), v;
	int i;

	/* A range of less than a factor of five may have only one of 1, 2 and 5 in it. */
	if (!s->x_log || s->x1 < 5 * s->x0) {
		for (v = ceil(s->x0 / step) * step; v <= s->x1 + step / 1e6; v += step)
			label_x(s, fabs(v) < step / 1e6 ? 0 : v, step, out);
		return;
	}
	for (v = pow(10, floor(log10(s->x0))); v <= s->x1; v *= 10)
		for (i = 0; i < 3; i++)
			if (v * digit[i] >= s->x0 && v * digit[i] <= s->x1)
				label_x(s, v * digit[i], step, out);
}

static void draw_axes(const struct ibcc_plot *p, const struct scale *s, FILE *out)
{
	double v;
	char label[32];
	int i;

	for (i = 0; i <= (int)lround(s->y1 / s->ystep); i++) {
		v = s->ystep * i;
		fprintf(out,
			"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
			"stroke=\"#e4e4e4\"/>\n",
			s->f.left, s->f.width - s->f.right, py(s, v), py(s, v));
		snprintf(label, sizeof(label), "%.10g", v);
		text_at(out, s->f.left - 8, py(s, v) + 4, "text-anchor=\"end\"", label);
	}
	label_x_axis(s, out);
	fprintf(out,
		"<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
		"stroke=\"#444\"/>\n",
		s->f.left, s->f.width - s->f.right, py(s, 0), py(s, 0));
	if (p->title)
		text_at(out, s->f.left, 17, "font-size=\"15\" font-weight=\"600\"", p->title);
	if (p->x_label)
		text_at(out, (s->f.left + s->f.width - s->f.right) / 2, s->f.height - 8,
			"text-anchor=\"middle\"", p->x_label);
	if (p->y_label)
		text_at(out, s->f.left - 56 > 4 ? s->f.left - 56 : 4, s->f.top - 13,
			"class=\"soft\" fill=\"#555\"", p->y_label);
}

static void draw_marks(const struct ibcc_plot *p, const struct scale *s, FILE *out)
{
	/* Where the last text of each row begins and ends; marks may be in either order. */
	double begin[MARK_ROWS], end[MARK_ROWS];
	size_t i, row;

	for (row = 0; row < MARK_ROWS; row++)
		begin[row] = end[row] = -INFINITY;
	for (i = 0; i < p->n_marks; i++) {
		double x = px(s, p->mark[i].x),
		       room = MARK_LETTER * (double)strlen(p->mark[i].text) + 3;

		fprintf(out,
			"<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
			"stroke=\"#888\" "
			"stroke-dasharray=\"2 3\"/>\n",
			x, x, s->f.top, s->f.height - s->f.bottom);
		for (row = 0; row < MARK_ROWS; row++)
			if (x >= end[row] || x + room <= begin[row])
				break;
		if (row == MARK_ROWS) /* no room for the text: only the line is drawn */
			continue;
		begin[row] = x;
		end[row] = x + room;
		text_at(out, x + 4, s->f.top + 10 + 13 * (double)row,
			"class=\"soft\" fill=\"#555\" font-size=\"11\"", p->mark[i].text);
	}
	if (p->y_line != 0) {
		fprintf(out,
			"<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
			"stroke=\"#555\" "
			"stroke-dasharray=\"6 4\"/>\n",
			s->f.left, s->f.width - s->f.right, py(s, p->y_line), py(s, p->y_line));
		if (p->y_line_text)
			text_at(out, s->f.left + 6, py(s, p->y_line) - 5,
				"class=\"soft\" fill=\"#555\" font-size=\"11\"", p->y_line_text);
	}
}

static void draw_curve(const struct ibcc_plot_series *c, const struct scale *s, FILE *out)
{
	bool pen = false;
	size_t i;

	fprintf(out, "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" d=\"");
	for (i = 0; i < c->n; i++) {
		if (isnan(c->y[i])) {
			pen = false;
			continue;
		}
		if (pen && c->step)
			fprintf(out, "H%.1f", px(s, c->x[i]));
		fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', px(s, c->x[i]), py(s, c->y[i]));
		pen = true;
	}
	fputs("\"/>\n", out);
	for (i = 0; i < c->n && c->n <= DOTS && !c->step; i++)
		if (!isnan(c->y[i]))
			fprintf(out,
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"currentColor\"/>\n",
				px(s, c->x[i]), py(s, c->y[i]));
}

static bool inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

const char *ibcc_plot_cut(const char *name, size_t most, char *buf, size_t size)
{
	size_t len = strlen(name), head = most / 2 - 1, tail;

	if (len <= most)
		return name;
	tail = len - head;
	while (head && inside_character(name[head]))
		head--;
	while (inside_character(name[tail]))
		tail++;
	snprintf(buf, size, "%.*s\u2026%s", (int)head, name, name + tail);
	return buf;
}

static void draw_series(const struct ibcc_plot_series *c, size_t k, size_t n, const struct scale *s,
			FILE *out)
{
	char cut[NAME + 8];
	bool beside = s->f.right > NAME_WIDE / 2;
	double x = beside ? s->f.width - s->f.right + 12 : s->f.left + NAME_WIDE * (double)(k % 2);
	double y =
		beside ? s->f.top + 20 * (double)k : narrow.top - 17 + NAME_ROW * (double)(k / 2);

	/* By class, so that a page may have colours of its own for a dark background. */
	fprintf(out, "<g class=\"s%zu\" color=\"%s\">\n", k, colour[k]);
	draw_curve(c, s, out);
	if (beside || n > 1)
		fprintf(out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
			"fill=\"currentColor\"/>\n",
			x, y);
	fputs("</g>\n", out);
	if (beside || n > 1)
		text_at(out, x + 18, y + 10, "", ibcc_plot_cut(c->name, NAME, cut, sizeof(cut)));
}

static void draw(const struct ibcc_plot *p, FILE *out)
{
	struct scale s = find_scale(p);
	size_t k;

	draw_axes(p, &s, out);
	draw_marks(p, &s, out);
	for (k = 0; k < p->n_series; k++)
		draw_series(&p->series[k], k, p->n_series, &s, out);
}

int ibcc_plot_panels(const struct ibcc_plot *p, size_t n, FILE *out)
{
	double width = 0, height = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct frame f = frame_of(&p[i]);

		width = fmax(width, f.width);
		height += f.height;
	}
	for (i = 0; i < n; i++)
		if (!p[i].n_series || p[i].n_series > IBCC_PLOT_MAX_SERIES)
			return -EINVAL;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
		"font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n"
		"<rect class=\"ground\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height);
	for (i = 0, height = 0; i < n; height += frame_of(&p[i++]).height) {
		if (i)
			fprintf(out, "<g transform=\"translate(0 %g)\">\n", height);
		draw(&p[i], out);
		if (i)
			fputs("</g>\n", out);
	}
	fputs("</svg>\n", out);
	return ferror(out) ? -EIO : 0;
}

int ibcc_plot_svg(const struct ibcc_plot *p, FILE *out)
{
	return ibcc_plot_panels(p, 1, out);
}
