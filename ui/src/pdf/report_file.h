#pragma once

#include <filesystem>

#include "engine/report/report.h"

namespace ui {

/// Writes a report as one file, HTML or PDF (A4), as its name ends, in the window's language.
/// Throws engine::Error(io) if it cannot be written and Error(settings) for another ending. GUI
/// thread.
void writeReportFile(const engine::Report& report, const std::filesystem::path& file);

}  // namespace ui
