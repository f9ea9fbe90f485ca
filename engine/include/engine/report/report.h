#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/runs/run_store.h"
#include "engine/verdict/verdict.h"

namespace engine {

/// A table of a report. The first row is the header.
struct ReportTable {
    Message title;
    std::vector<std::vector<Message>> rows;
    Message note = {};
};

/// A plot of a report as an SVG document, complete and without references.
struct ReportPlot {
    Message title;
    Message note;
    std::string svg;
};

/// A report on a run, or on several, of which the first is the baseline.
struct Report {
    Message title;
    std::string made;  ///< local time
    std::vector<Verdict> verdicts;
    ReportTable runs;  ///< a column a run
    std::vector<ReportPlot> plots;
    ReportTable epochs;                 ///< no rows: none ended
    std::vector<ReportTable> skips;     ///< of the loss scale, a table a run that had some
    std::vector<ReportTable> problems;  ///< warnings and errors
    ReportTable differences;  ///< settings in which the runs differ; no rows: none, or one run
    ReportTable machine;
    struct Settings {
        std::string name;
        std::string json;
    };
    std::vector<Settings> settings;
};

/// Reads the records and events in the folders of the runs, an event at a time, so that a run of any
/// length takes little memory. Throws Error(data) for a record that cannot be read.
Report make_report(const std::vector<RunSummary>& runs);

/// The text of a message for readers: English, unless the window translates.
using Translate = std::function<std::string(const Message&)>;

struct ReportHtmlOptions {
    Translate translate = [](const Message& message) { return message.str(); };
    std::string language = "en";
    std::string style = {};  ///< CSS in place of the page's own
    /// The markup for plot i. Empty: its SVG itself, so that the page is one file.
    std::function<std::string(std::size_t)> plot = {};
};

/// The report as one HTML file without scripts and without references to other files or the
/// network.
std::string report_html(const Report& report, const ReportHtmlOptions& options = {});

}  // namespace engine
