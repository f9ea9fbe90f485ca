#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// The first and the last of a run's evaluations: the last is its result.
class ListedEvaluations {
public:
    void add(const EpochDone& event) {
        if (!event.evaluated) return;
        ++made_;
        if (first_.size() < half)
            first_.push_back(event);
        else
            last_.push_back(event);
        if (last_.size() > half) last_.pop_front();
    }
    std::size_t made() const { return made_; }
    /// At most `most` of them, in order.
    std::vector<EpochDone> list(std::size_t most) const {
        const std::size_t kept = first_.size() + last_.size(), shown = std::min(most, kept);
        std::vector<EpochDone> out;
        for (std::size_t i = 0; i < shown; ++i) {
            const std::size_t at = i < (shown + 1) / 2 ? i : kept - shown + i;
            out.push_back(at < first_.size() ? first_[at] : last_[at - first_.size()]);
        }
        return out;
    }

private:
    static constexpr std::size_t half = 100;
    std::vector<EpochDone> first_;
    std::deque<EpochDone> last_;
    std::size_t made_ = 0;
};

/// Collects the events that a report shows. Reads them one after another, and keeps only the first
/// of each kind of a long run; of the evaluations the last, too.
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
    ListedEvaluations epochs_;
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
