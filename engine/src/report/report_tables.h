#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/record/figures.h"
#include "engine/report/report.h"

namespace engine {

/// The first of a run's events of a kind, and the number of the others.
template <typename T, std::size_t most>
struct FirstEvents {
    std::vector<T> first;
    std::int64_t left_out = 0;

    void add(const T& event) {
        if (first.size() < most)
            first.push_back(event);
        else
            ++left_out;
    }
};

/// Collects the events that a report shows. Reads them one after another, and keeps only the first
/// of each kind of a long run.
class ReportedEvents {
public:
    explicit ReportedEvents(const std::filesystem::path& run_folder);

    struct Problem {
        std::int64_t step = 0;  ///< 0: none
        Message message;
    };

    /// How the run was started last.
    const RunStarted& started() const { return started_; }
    const FigureEvents& figures() const { return figures_; }
    const JudgedEvents& judged() const { return judged_; }
    /// The steps that were skipped.
    const std::vector<std::int64_t>& skipped() const { return skipped_; }
    const auto& skips() const { return skips_; }
    const auto& epochs() const { return epochs_; }
    const auto& problems() const { return problems_; }

private:
    void add(const Event& event);

    RunStarted started_{};
    FigureEvents figures_;
    JudgedEvents judged_;
    std::vector<std::int64_t> skipped_;
    FirstEvents<ScaleChanged, 60> skips_;
    FirstEvents<EpochDone, 200> epochs_;
    FirstEvents<Problem, 200> problems_;
};

/// A figure by printf's format; a dash if it is unknown.
std::string number_or_dash(const char* format, double value);
/// A metric's title within a phrase: "accuracy" of "Accuracy", "RMSE".
std::string metric_words(const Metric& metric);
/// "95.75 %" of a share, "0.7291" of another metric.
std::string metric_text(const Metric& metric, double value);

// Tables of a report. One without rows has nothing to show.

ReportTable skip_table(const std::string& name, const ReportedEvents& events);
ReportTable problem_table(const std::string& name, const ReportedEvents& events);

/// A run as a line of epoch_table() names it.
struct NamedEvents {
    std::string name;
    Metric metric;  ///< the primary one; an empty key: none
    const ReportedEvents* events = nullptr;
};
ReportTable epoch_table(const std::vector<NamedEvents>& runs);

/// The settings of a run as JSON. For a run of another program: that program's own settings, and
/// those that both have (precision, scaler).
std::string shown_settings(const RunSummary& run);

/// "Spirals" of dataset.kind and "spirals"; the word itself where the setting has no such choice, as
/// of what another program trains.
std::string choice_title(std::string_view path, const std::string& word);

/// The settings in which the runs differ, as far as the runs have them. `settings` gives the names
/// of the runs. No rows: no difference.
ReportTable difference_table(const std::vector<RunSummary>& runs,
                             const std::vector<Report::Settings>& settings);

}  // namespace engine
