/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Pages of HTML that are one file: style, headings, figures, tables, plots (page.h). All text is
 * escaped.
 */
#include <ibcc/page.h>

/* The style. Colours are named by purpose; those of series are the plots', with lighter ones on
 * dark ground. */
static const char style[] =
	":root{color-scheme:light dark;--ground:#fff;--box:#f6f7f8;--ink:#1d2125;--soft:#5a6570;"
	"--line:#d9dee3;--grid:#e8ebee;--root:#c0392b;--hot:#d55e00;--victim:#0072b2;"
	"--unsure:#8a6d00;--link:#9aa5b0}\n"
	"@media(prefers-color-scheme:dark){:root{--ground:#15181c;--box:#1f242a;--ink:#e4e7ea;"
	"--soft:#a0abb6;--line:#39424b;--grid:#2a3138;--root:#ff7b6b;--hot:#ff9a4d;"
	"--victim:#56b4e9;--unsure:#e6c84d;--link:#66727e}"
	"svg .s1{color:#4da3ff}svg .s2{color:#f0f0f0}svg .s7{color:#a8a8a8}}\n"
	"*{box-sizing:border-box}\n"
	"body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;max-width:1080px;margin:0 auto;"
	"padding:1.2em 16px 3em;background:var(--ground);color:var(--ink);"
	"overflow-wrap:anywhere}\n"
	"h1{font-size:1.6em;line-height:1.2;margin:.4em 0 .1em}"
	"h2{font-size:1.2em;margin:2em 0 .5em;padding-bottom:.2em;"
	"border-bottom:1px solid var(--line)}h3{font-size:1em;margin:1.4em 0 .3em}"
	".lead,.foot{color:var(--soft);margin:.2em 0}.foot{margin-top:3em;font-size:.9em}\n"
	".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(230px,46%),1fr));"
	"gap:10px;"
	"margin:1.2em 0}.figures div{background:var(--box);border-radius:8px;padding:.6em .8em}"
	".figures b{display:block;font-size:1.25em;line-height:1.3}"
	".figures span,.figures small{color:var(--soft);display:block;line-height:1.35}\n"
	".wide{overflow-x:auto;margin:.6em 0 1em}"
	"table{border-collapse:collapse;font-size:.93em}"
	"th,td{padding:.3em .8em .3em 0;text-align:left;vertical-align:top;"
	"border-bottom:1px solid var(--line);white-space:nowrap;overflow-wrap:normal}"
	"th{font-weight:600;color:var(--soft);font-size:.9em}"
	".n{text-align:right;font-variant-numeric:tabular-nums}"
	".t{white-space:normal;min-width:16em}"
	".bar{display:inline-block;width:60px;height:.6em;margin-left:.6em;"
	"background:var(--grid);border-radius:2px}"
	".bar i{display:block;height:100%;background:var(--hot);border-radius:2px}\n"
	"pre{background:var(--box);border-radius:8px;padding:.8em 1em;overflow:auto;"
	"font-size:12px;line-height:1.4}\n"
	".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));"
	"gap:12px 24px}figure{margin:0}svg{display:block;max-width:100%;height:auto}"
	".plots svg{width:100%;max-width:640px}svg text{fill:var(--ink)}svg "
	"text.soft{fill:var(--soft)}"
	"svg .ground{fill:none}svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--soft)}"
	"svg .mark{stroke:var(--soft)}\n"
	"@media print{body{max-width:none}.wide{overflow:visible}}\n";

void ibcc_page_begin(FILE *out, const char *title, const char *lead)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
	      out);
	ibcc_plot_text(out, title);
	fprintf(out, "</title>\n<style>\n%s</style></head><body>\n<h1>", style);
	ibcc_plot_text(out, title);
	fputs("</h1>\n", out);
	if (!lead)
		return;
	fputs("<p class=\"lead\">", out);
	ibcc_plot_text(out, lead);
	fputs("</p>\n", out);
}

void ibcc_page_end(FILE *out, const char *foot)
{
	fputs("<p class=\"foot\">", out);
	ibcc_plot_text(out, foot);
	fputs("</p>\n</body></html>\n", out);
}

static void element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<%s>", name);
	ibcc_plot_text(out, text);
	fprintf(out, "</%s>\n", name);
}

void ibcc_page_heading(FILE *out, const char *text)
{
	element(out, "h2", text);
}

void ibcc_page_paragraph(FILE *out, const char *text)
{
	element(out, "p", text);
}

void ibcc_page_listing(FILE *out, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	ibcc_page_heading(out, heading);
	element(out, "pre", text);
}

void ibcc_page_figures_begin(FILE *out)
{
	fputs("<div class=\"figures\">\n", out);
}

void ibcc_page_figure(FILE *out, const char *what, const char *value, const char *more)
{
	fputs("<div>", out);
	element(out, "span", what);
	element(out, "b", value);
	if (more && *more)
		element(out, "small", more);
	fputs("</div>\n", out);
}

void ibcc_page_figures_end(FILE *out)
{
	fputs("</div>\n", out);
}

/* The class of a column, by the first letter of its name: '>' for numbers, '~' for long text. */
static const char *class_of(const char *column)
{
	return *column == '>' ? " class=\"n\"" : *column == '~' ? " class=\"t\"" : "";
}

void ibcc_page_table_begin(struct ibcc_page_table *t, FILE *out, const char *const *column,
			   size_t n)
{
	*t = (struct ibcc_page_table){ .out = out, .column = column, .n = n };
	fputs("<div class=\"wide\"><table><tr>", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<th%s>", class_of(column[i]));
		ibcc_plot_text(out, column[i] + (*column[i] == '>' || *column[i] == '~'));
		fputs("</th>", out);
	}
	fputs("</tr>\n", out);
}

static void begin_cell(struct ibcc_page_table *t)
{
	fprintf(t->out, "%s<td%s>", t->at % t->n ? "" : "<tr>", class_of(t->column[t->at % t->n]));
}

static void end_cell(struct ibcc_page_table *t)
{
	fprintf(t->out, "</td>%s", ++t->at % t->n ? "" : "</tr>\n");
}

void ibcc_page_cell(struct ibcc_page_table *t, const char *text)
{
	begin_cell(t);
	ibcc_plot_text(t->out, text);
	end_cell(t);
}

void ibcc_page_bar(struct ibcc_page_table *t, const char *text, unsigned int permille)
{
	begin_cell(t);
	ibcc_plot_text(t->out, text);
	fprintf(t->out, "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>",
		(double)(permille < 1000 ? permille : 1000) / 10);
	end_cell(t);
}

void ibcc_page_table_end(struct ibcc_page_table *t)
{
	fputs("</table></div>\n", t->out);
}

void ibcc_page_plots(FILE *out, const struct ibcc_plot *p, size_t n)
{
	fputs("<div class=\"plots\">\n", out);
	for (size_t i = 0; i < n; i++) {
		struct ibcc_plot one = p[i];

		one.narrow = true;
		fputs("<figure>\n", out);
		ibcc_plot_svg(&one, out);
		fputs("</figure>\n", out);
	}
	fputs("</div>\n", out);
}
