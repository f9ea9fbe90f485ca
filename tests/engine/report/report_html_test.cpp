#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "engine/report/report.h"
#include "engine/runs/run_store.h"
#include "runs/run_folder.h"
#include "support/long_run.h"
#include "temp_folder.h"

// Texts that people and other programs have written are text of the page and nothing else.
namespace engine {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Marks of HTML, quotes, references, line ends, control characters, escape sequences of a terminal,
/// reversed writing, and bytes that are no UTF-8.
const std::string hostile =
    "<script>alert(1)</script><b onload=\"x\">&lt;&amp;'\"\n\t\r</td></table>-->]]>\x1b[31m\x1b]0;t\x07"
    "\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xff\xc0\xaf\xed\xa0\x80";

/// The names of all elements of the page. A quotation mark ends no attribute value too early.
std::set<std::string> elements_of(const std::string& html) {
    std::set<std::string> out;
    for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
        std::size_t end = at + 1 + (html[at + 1] == '/' || html[at + 1] == '!' ? 1 : 0);
        const std::size_t begin = end;
        while (end < html.size() && std::isalnum(static_cast<unsigned char>(html[end])) != 0) ++end;
        out.insert(html.substr(begin, end - begin));
        const std::string tag = html.substr(at, html.find('>', at) - at);
        EXPECT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
    }
    return out;
}

void expect_clean(const std::string& html) {
    const std::set<std::string> ours{"doctype", "html",  "head",  "meta",    "title",   "style",
                                     "body",    "h1",    "h2",    "p",       "b",       "table",
                                     "tr",      "th",    "td",    "figure",  "svg",     "g",
                                     "rect",    "line",  "path",  "text",    "polyline", "circle",
                                     "details", "summary", "pre", "polygon"};
    for (const std::string& name : elements_of(html)) EXPECT_TRUE(ours.contains(name)) << name;
    for (const unsigned char c : html)
        if (c < ' ' && c != '\n' && c != '\t') ADD_FAILURE() << static_cast<int>(c);
    for (const std::string bytes : {"\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xff",
                                    "\xc0\xaf", "\xed\xa0\x80"})
        EXPECT_THAT(html, Not(HasSubstr(bytes)));
    EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
    EXPECT_THAT(html, HasSubstr("&amp;lt;&amp;amp;")) << "what looks escaped is text, too";
    EXPECT_THAT(html, HasSubstr("\\u001b[31m"));
}

TEST(ReportHtml, WritesEveryPartOfAReportAsText) {
    const Message text(hostile), within = msg("a {} b", hostile);
    const ReportTable table{within, {{text, text}, {text, within}}, within};
    Report report;
    report.title = within;
    report.made = hostile;
    Verdict verdict;
    verdict.headline = within;
    verdict.cost = {text};
    verdict.evidence = {within};
    report.verdicts = {verdict};
    report.runs = report.epochs = report.differences = report.machine = table;
    report.skips = report.problems = {table};
    report.plots = {{within, within, "<svg></svg>"}};
    report.settings = {{hostile, hostile}};
    ReportHtmlOptions options;
    options.language = hostile;
    expect_clean(report_html(report, options));
    options.translate = [](const Message& message) { return hostile + message.str(); };
    expect_clean(report_html(report, options));
}

TEST(ReportHtml, CleansTheTitleTagsNotesAndWarningsOfARun) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const auto run = test::long_run(store, 2);
    std::ofstream(run.folder / events_file, std::ios::app)
        << to_json_line(RunWarning{run.run, msg("{}", hostile), 3}) << '\n'
        << to_json_line(RunFailed{run.run, ErrorCode::io, Message(hostile), {}}) << '\n';
    for (const bool foreign : {false, true}) {
        RunSummary summary = *store.find(run.run);
        summary.title = summary.tags = summary.notes = summary.parent = hostile;
        summary.unit = summary.run = hostile;
        summary.metrics = {{.key = hostile, .title = hostile}};
        if (foreign)
            summary.origin = RunOrigin{.program = hostile,
                                       .model = hostile,
                                       .dataset = hostile,
                                       .settings = {{hostile, hostile}}};
        expect_clean(report_html(make_report({summary, summary})));
    }
}

TEST(ReportHtml, KeepsTheWordsOfEveryLanguage) {
    Report report;
    report.title = Message("训练 – Prüfung «ü» 2¹⁶ 😀 é");
    EXPECT_THAT(report_html(report), HasSubstr("<h1>训练 – Prüfung «ü» 2¹⁶ 😀 é</h1>"));
}

}  // namespace
}  // namespace engine
