#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/figures.h"
#include "engine/runs/run_store.h"

namespace engine {

/// A run and those of its events that were asked for.
struct ListedRun {
    RunSummary summary;
    std::vector<Event> events;
};

/// Reads a run from its folder alone, which need not be in the history. Nothing if the folder holds
/// no run.
std::optional<ListedRun> read_run_folder(const std::filesystem::path& folder,
                                         const EventFilter& keep = keep_every_event);

/// The figures and settings of a run as one JSON object, a line without a newline. Non-finite
/// numbers as "nan", "inf", "-inf".
std::string to_json_line(const RunSummary& run);

/// The figures of the run in a folder, by its record and events; unknown ones if the record cannot
/// be read.
KeyFigures figures_of_run(const std::filesystem::path& folder);
/// The object of `show --json`: that of to_json_line() with the figures that need the record.
std::string show_json_line(const RunSummary& run, const KeyFigures& figures);

/// The runs as a table for a terminal, a line each, with a header; unknown figures as "-".
std::string runs_table(const std::vector<RunSummary>& runs);

/// One run for a terminal: its figures, the settings that differ from the defaults, its epochs, and
/// its warnings and errors. It shows no other events than is_on_run_page() says.
bool is_on_run_page(const Event& event);
std::string run_page(const ListedRun& run);

/// Several runs side by side for a terminal: the settings in which they differ, and their results.
std::string runs_page(const std::vector<RunSummary>& runs);
/// Several runs side by side as one JSON object, a line without a newline.
std::string differences_json(const std::vector<RunSummary>& runs);

}  // namespace engine
