#include <cctype>

#include "engine/base/plain_text.h"
#include "engine/report/report.h"
#include "report/svg_plot.h"

namespace engine {
namespace {

const std::string page_style = R"(
body{font:15px/1.5 system-ui,"Noto Sans CJK SC",sans-serif;color:#222;background:#f6f6f4;max-width:1100px;margin:24px auto;padding:0 16px}
h1{font-size:24px;margin-bottom:0}h2{font-size:17px;margin-top:28px;margin-bottom:6px}
table{border-collapse:collapse;background:#fff}
th,td{border:1px solid #d9d9d6;padding:4px 10px;font-variant-numeric:tabular-nums;vertical-align:top}
figure{margin:0;border:1px solid #d9d9d6;border-radius:8px;background:#fff;overflow:hidden}
figure svg{display:block;width:100%}
pre{background:#fff;border:1px solid #d9d9d6;padding:8px;overflow:auto}
p.note{color:#666;margin-top:2px}
@media print{body{background:#fff;margin:0;max-width:none}details{display:none}figure,table{break-inside:avoid}})";

class Page {
public:
    Page(const Report& report, const ReportHtmlOptions& options)
        : report_(report), options_(options) {}

    std::string html() {
        out_ = "<!doctype html>\n<html lang=\"" + html_text(options_.language) +
               "\"><head><meta charset=\"utf-8\">\n<title>" + text(report_.title) +
               "</title>\n<style>" + (options_.style.empty() ? page_style : options_.style) +
               "</style></head><body>\n<h1>" + text(report_.title) + "</h1>\n<p class=\"note\">" +
               html_text(report_.made) + "</p>\n";
        for (const Verdict& verdict : report_.verdicts) add(verdict);
        add(report_.runs, false);
        for (std::size_t i = 0; i < report_.plots.size(); ++i) add_plot(i);
        add(report_.epochs, false);
        for (const ReportTable& table : report_.skips) add(table, true);
        for (const ReportTable& table : report_.problems) add(table, true);
        add(report_.differences, true);
        add(report_.machine, true);
        for (const auto& settings : report_.settings) {
            out_ += "<details><summary>" + text(msg("Settings: {}", settings.name)) +
                    "</summary><pre>" + html_text(settings.json) + "</pre></details>\n";
        }
        return out_ + "</body></html>\n";
    }

private:
    std::string text(const Message& message) const {
        return html_text(options_.translate(message));
    }

    void add(const Verdict& verdict) {
        out_ += "<p><b>" + text(verdict.headline) + "</b>";
        std::string cost;
        for (const Message& part : verdict.cost) cost += (cost.empty() ? " " : ", ") + text(part);
        if (cost.size() > 1)
            cost[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(cost[1])));
        out_ += cost + (cost.empty() ? "" : ".");
        for (const Message& part : verdict.evidence) out_ += " " + text(part);
        out_ += "</p>\n";
    }

    void add(const ReportTable& table, bool words) {
        if (table.rows.empty()) return;
        if (!table.title.empty()) out_ += "<h2>" + text(table.title) + "</h2>\n";
        out_ += "<table cellspacing=\"0\">\n";
        const char* tag = "th";
        for (const auto& row : table.rows) {
            out_ += "<tr>";
            for (std::size_t i = 0; i < row.size(); ++i) {
                const bool left = words || i == 0;
                out_ += std::string("<") + tag + (left ? " align=\"left\">" : " align=\"right\">") +
                        text(row[i]) + "</" + tag + ">";
            }
            out_ += "</tr>\n";
            tag = "td";
        }
        out_ += "</table>\n";
        if (!table.note.empty()) out_ += "<p class=\"note\">" + text(table.note) + "</p>\n";
    }

    void add_plot(std::size_t index) {
        const ReportPlot& plot = report_.plots[index];
        out_ += "<h2>" + text(plot.title) + "</h2>\n";
        out_ += options_.plot ? "<div>" + options_.plot(index) + "</div>\n"
                              : "<figure>" + plot.svg + "</figure>\n";
        if (!plot.note.empty()) out_ += "<p class=\"note\">" + text(plot.note) + "</p>\n";
    }

    const Report& report_;
    const ReportHtmlOptions& options_;
    std::string out_;
};

}  // namespace

std::string report_html(const Report& report, const ReportHtmlOptions& options) {
    return Page(report, options).html();
}

}  // namespace engine
