#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/report/report.h"
#include "engine/runs/run_store.h"
#include "engine/verdict/verdict.h"

namespace ui {

/// Subject of a report.
struct ReportContent {
    std::vector<std::string> runs;  ///< in the store, the baseline first
    std::vector<engine::Verdict> verdicts;
};

/// Writes report.html and its plots (loss.png, accuracy.png or that of the
/// runs' primary metric, loss-scale.png, gradient-norm.png) of
/// stored runs into `folder`, which is made if it is absent; files of those names are replaced. In
/// the window's language, light, without a display. Throws engine::Error(io) if a file cannot be
/// written, and Error(data) for a run that is not in the store.
void write_report(const std::shared_ptr<engine::RunStore>& store, const ReportContent& content,
                  const std::filesystem::path& folder);

/// Writes a report as one file, HTML or PDF (A4), as its name ends. In the window's language, without
/// a display. Throws engine::Error(io) if it cannot be written and Error(settings) for another
/// ending.
void write_report_file(const engine::Report& report, const std::filesystem::path& file);

}  // namespace ui
