#include "runs/foreign_log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/record/event.h"
#include "engine/settings/catalog.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "record/event_json.h"
#include "record/step_record.h"
#include "runs/run_archive.h"
#include "runs/run_folder.h"
#include "runs/tensorboard_events.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_figures = 100'000'000;
constexpr double not_logged = std::numeric_limits<double>::quiet_NaN();

enum class LogPart { training, epoch, validation, test };

struct PartWord {
    std::string_view word;
    LogPart part;
};
constexpr std::array part_words = {
    PartWord{"train", LogPart::training},   PartWord{"training", LogPart::training},
    PartWord{"epoch", LogPart::epoch},      PartWord{"val", LogPart::validation},
    PartWord{"valid", LogPart::validation}, PartWord{"validation", LogPart::validation},
    PartWord{"dev", LogPart::validation},   PartWord{"test", LogPart::test},
    PartWord{"eval", LogPart::test},        PartWord{"evaluation", LogPart::test}};

/// Keys of other programs that a column has another name for.
struct OtherKey {
    std::string_view key, column;
};
constexpr std::array other_keys = {
    OtherKey{"acc", "accuracy"},          OtherKey{"ppl", "perplexity"},
    OtherKey{"learning_rate", "lr"},      OtherKey{"scale", "loss_scale"},
    OtherKey{"grad_scale", "loss_scale"}, OtherKey{"gradient_norm", "grad_norm"},
    OtherKey{"total_norm", "grad_norm"}};

/// Figures of the logging itself.
constexpr std::array<std::string_view, 6> no_figures = {
    "runtime", "samples_per_second", "steps_per_second", "global_step", "relative_time", "skipped"};

struct LogName {
    LogPart part = LogPart::training;
    std::string key;  ///< empty: none
};

/// `val/acc`, `eval_accuracy`, `Loss/train`, `train_loss_step` and their like, as the Python
/// package reads them (resources/python/halftone_watch/figure_names.py).
LogName parsed_name(const std::string& name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z')
            words.back() += static_cast<char>(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    LogName out;
    const auto is_part = [](const std::string& word) {
        return std::ranges::find(part_words, std::string_view(word), &PartWord::word) !=
               part_words.end();
    };
    // Lightning ends the names of what it logs of both with these; "train/epoch" is a count.
    const std::size_t least = words.empty() || is_part(words.front()) ? 3 : 2;
    bool of_epoch = false;
    if (words.size() >= least && words[words.size() - 2] != "global" &&
        (words.back() == "epoch" || words.back() == "step")) {
        of_epoch = words.back() == "epoch";
        words.pop_back();
    }
    const auto take_part = [&](auto at) {
        const auto found = std::ranges::find(part_words, std::string_view(*at), &PartWord::word);
        if (words.size() < 2 || found == part_words.end()) return false;
        out.part = found->part;
        words.erase(at);
        return true;
    };
    if (!words.empty() && !take_part(words.begin())) take_part(words.end() - 1);
    if (of_epoch && out.part == LogPart::training) out.part = LogPart::epoch;
    for (const std::string& word : words) out.key += (out.key.empty() ? "" : "_") + word;
    const auto other = std::ranges::find(other_keys, std::string_view(out.key), &OtherKey::key);
    if (other != other_keys.end()) out.key = other->column;
    constexpr std::size_t longest = 48;
    const bool is_time = std::ranges::any_of(
        no_figures, [&](std::string_view each) { return out.key.ends_with(each); });
    if (is_time || out.key.empty() || out.key.size() > longest || out.key.front() < 'a')
        out.key.clear();
    return out;
}

/// Puts a value into the column of this name; false: there is none.
bool put_value(StepRecord& row, std::string_view column, double value) {
    bool done = false;
    for_each_field([&](std::string_view name, auto member) {
        if (name != column) return;
        using Value = std::remove_reference_t<decltype(row.*member)>;
        constexpr double most = 9e15;
        if constexpr (std::is_floating_point_v<Value>)
            row.*member = static_cast<Value>(value);
        else if (std::abs(value) < most)
            row.*member = static_cast<Value>(value);
        done = true;
    });
    return done;
}

bool has_column(std::string_view name) {
    bool has = false;
    for_each_field([&](std::string_view each, auto) { has |= each == name; });
    return has;
}

bool is_table(const fs::path& path) {
    const fs::path ending = path.extension();
    return ending == ".csv" || ending == ".CSV" || ending == ".tsv";
}

/// Makes the run of one log.
class ForeignRun {
public:
    explicit ForeignRun(const ForeignLog& log) : log_(log) {
        for (const std::string& name : log.names) names_.push_back(parsed_name(name));
        choose_rows();
        choose_metrics();
    }

    void write(const fs::path& folder) const {
        if (const int failure = make_private_folder(folder); failure != 0)
            throw_write_error(folder, failure);
        const Moment made = Moment::now();
        const RunStarted started = start();
        write_new_run(folder, "1", started.config, made, "", 0);
        auto settings = settings_json(started.config, true);
        settings["origin"] = *started.origin;
        write_file(folder / config_file, dumped(settings) + "\n");
        if (!log_.title.empty())
            write_notes(folder, {.notes = {}, .tags = {}, .title = log_.title});
        std::string lines = to_json_line(Event(started)) + "\n";
        for (const Message& warning : log_.warnings)
            lines += to_json_line(Event(RunWarning{"1", warning, 0})) + "\n";
        write_steps(folder, lines);
        append_lines(folder / events_file, lines);
    }

private:
    bool is_row(const ForeignLog::Step& step) const {
        return std::ranges::any_of(step.figures, [&](const auto& figure) {
            const LogName& name = names_[figure.first];
            return name.part == row_part_ && (needs_loss_ ? name.key == "loss" : !name.key.empty());
        });
    }

    /// Steps of training, or of an evaluation where there are no others.
    void choose_rows() {
        const auto has = [&](LogPart part, bool loss) {
            return std::ranges::any_of(names_, [&](const LogName& name) {
                return name.part == part && !name.key.empty() && (!loss || name.key == "loss");
            });
        };
        for (const LogPart part :
             {LogPart::training, LogPart::epoch, LogPart::validation, LogPart::test}) {
            if (!has(part, false)) continue;
            row_part_ = part;
            needs_loss_ = has(part, true);
            break;
        }
        std::int64_t last = -1;
        for (const auto& [step, figures] : log_.steps) {
            if (!is_row(figures)) continue;
            if (rows_++ == 0)
                first_step_ = step;
            else
                is_whole_ &=
                    static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(last) == 1;
            last = step;
        }
        is_whole_ &= first_step_ == 0 || first_step_ == 1;
        if (rows_ == 0)
            throw Error(ErrorCode::data, msg("{}: the log has no figures of steps", log_.title));
    }

    void choose_metrics() {
        metric_of_.assign(names_.size(), -1);
        const auto is_known = [&](const std::string& key) {
            return std::ranges::find(metrics_, key, &Metric::key) != metrics_.end();
        };
        const auto add = [&](const std::string& key) {
            const bool others_full = std::ranges::count_if(metrics_, [](const Metric& each) {
                                         return each.key != "accuracy";
                                     }) >= static_cast<std::ptrdiff_t>(max_metrics);
            if (is_known(key) || (others_full && key != "accuracy")) return;
            const Metric accuracy = classification_metrics().front();
            std::string title = key;
            std::ranges::replace(title, '_', ' ');
            title.front() = static_cast<char>(title.front() - 'a' + 'A');
            metrics_.push_back(key == accuracy.key ? accuracy : Metric{key, title});
        };
        for (const LogName& name : names_) {
            const bool of_column = has_column(name.key) && name.key != "accuracy";
            if (name.key.empty() || name.key == "loss") continue;
            if (name.part == row_part_ && !of_column) add(name.key);
        }
        for (const LogName& name : names_)
            if (name.part != row_part_ && !name.key.empty() && name.key != "loss") add(name.key);
        // The first one is the one that runs are ranked by.
        std::stable_partition(
            metrics_.begin(), metrics_.end(), [](const Metric& metric) { return metric.key == "accuracy"; });
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const auto found = std::ranges::find(metrics_, names_[i].key, &Metric::key);
            if (found != metrics_.end()) metric_of_[i] = found - metrics_.begin();
        }
    }

    std::string setting(std::string_view name) const {
        for (const auto& [key, value] : log_.settings)
            if (key == name) return value;
        return {};
    }

    /// By the run's own settings, or by those of Lightning and transformers.
    std::string precision() const {
        if (const std::string own = setting("precision.preset");
            find_kind(precisions(), own) != nullptr)
            return own;
        const std::string told = setting("precision");
        const bool bf16 = told.starts_with("bf16") || setting("bf16") == "true";
        const bool scaled = std::ranges::any_of(names_, [&](const LogName& name) {
            return name.part == row_part_ && name.key == "loss_scale";
        });
        if (!bf16 && !scaled && !told.starts_with("16") && setting("fp16") != "true")
            return baseline_precision();
        const std::vector<std::string> amp = amp_precisions();
        return *std::ranges::find(amp, bf16, [](const auto& kind) { return computes_in_bf16(kind); });
    }

    RunStarted start() const {
        RunStarted out{};
        out.run = "1";
        out.config.precision.preset = precision();
        out.unit = is_whole_ ? "samples" : "logged steps";
        out.task = "";
        out.metrics = out.step_metrics = metrics_;
        out.origin = RunOrigin{.program = log_.program,
                               .model = setting("model.kind"),
                               .dataset = setting("dataset.kind"),
                               .optimizer = setting("optimizer.kind"),
                               .shares_every = 1,
                               .settings = log_.settings};
        return out;
    }

    static StepRecord empty_row() {
        StepRecord row{};
        for_each_field([&](std::string_view, auto member) {
            using Value = std::remove_reference_t<decltype(row.*member)>;
            if constexpr (std::is_floating_point_v<Value>)
                row.*member = static_cast<Value>(not_logged);
        });
        row.elapsed_s = row.clock_s = 0;
        row.loss_scale = 1;
        return row;
    }

    void take(const ForeignLog::Step& step, StepRecord& row) const {
        for (const auto& [place, value] : step.figures) {
            const LogName& name = names_[place];
            if (name.part != row_part_ || name.key == "step" || name.key == "clock_s") continue;
            if (metric_of_[place] >= 0)
                row.*metric_column(metrics_, static_cast<std::size_t>(metric_of_[place])) =
                    static_cast<float>(value);
            else
                put_value(row, name.key, value);
        }
    }

    /// The figures of a step that are of an epoch or an evaluation.
    EpochDone evaluation(const ForeignLog::Step& step) const {
        EpochDone out{};
        for (const auto& [place, value] : step.figures) {
            const LogName& name = names_[place];
            if (name.part == row_part_ || name.part == LogPart::training) continue;
            PartFigures& part = name.part == LogPart::epoch        ? out.train
                                : name.part == LogPart::validation ? out.validation
                                                                   : out.test;
            if (name.key == "loss")
                part.loss = value;
            else if (metric_of_[place] >= 0)
                part.metrics.push_back({name.key, value});
        }
        return out;
    }

    void write_steps(const fs::path& folder, std::string& lines) const {
        const auto others = std::ranges::count_if(
            metrics_, [](const Metric& each) { return each.key != "accuracy"; });
        StepRecordWriter record =
            StepRecordWriter::create(folder, static_cast<std::size_t>(others));
        RunDone done{};
        done.run = "1";
        done.reason = DoneReason::epochs;
        done.samples_per_s = not_logged;
        StepRecord row = empty_row();
        double began = 0;
        std::int64_t epoch = 0, skipped = 0;
        for (const auto& [step, figures] : log_.steps) {
            if (began == 0) began = figures.clock;
            take(figures, row);
            if (is_row(figures)) {
                row.step = ++done.steps;
                if (!is_whole_ && row.samples == 0) row.samples = step;
                skipped += row.found_inf != 0 ? 1 : 0;
                row.updates = row.step - skipped;
                row.clock_s = figures.clock;
                if (row.elapsed_s == 0) row.elapsed_s = std::max(0.0, figures.clock - began);
                record.append(row);
                done.wall_s = row.elapsed_s;
                done.peak_bytes = std::max(done.peak_bytes, row.peak_bytes);
                row = empty_row();
            }
            EpochDone seen = evaluation(figures);
            if (!seen.train.known() && !seen.validation.known() && !seen.test.known()) continue;
            seen.run = "1";
            seen.epoch = ++epoch;
            seen.step = done.steps;
            lines += to_json_line(Event(seen)) + "\n";
            if (seen.test.known()) done.test = seen.test;
            if (seen.validation.known()) done.validation = seen.validation;
        }
        done.skipped = skipped;
        done.updates = done.steps - skipped;
        lines += to_json_line(Event(done)) + "\n";
    }

    const ForeignLog& log_;
    std::vector<LogName> names_;  // of log_.names
    LogPart row_part_ = LogPart::training;
    bool needs_loss_ = false;
    bool is_whole_ = true;  // every step from the first on is a row
    std::int64_t rows_ = 0, first_step_ = 0;
    std::vector<Metric> metrics_;
    std::vector<std::ptrdiff_t> metric_of_;  // each name's place in metrics_; -1: none
};

}  // namespace

std::uint32_t ForeignLog::place_of(const std::string& name) {
    const auto [at, is_new] = places_.emplace(name, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(name);
    return at->second;
}

void ForeignLog::add(std::int64_t step, const std::string& name, double value, double clock) {
    if (++count_ > max_figures)
        throw Error(ErrorCode::data, msg("{}: more than {} figures", title, max_figures));
    Step& at = steps[step];
    if (at.clock == 0) at.clock = clock;
    const std::uint32_t place = place_of(name);
    const auto found =
        std::ranges::find(at.figures, place, &std::pair<std::uint32_t, double>::first);
    if (found != at.figures.end())
        found->second = value;
    else
        at.figures.emplace_back(place, value);
}

bool has_event_files(const fs::path& path) {
    const auto is_event_file = [](const fs::path& file) {
        return file.filename().string().find(tensorboard_mark) != std::string::npos;
    };
    std::error_code error;
    if (!fs::is_directory(path, error)) return is_event_file(path);
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        if (is_event_file(entry->path())) return true;
    return false;
}

bool is_foreign_log(const fs::path& path) {
    std::error_code error;
    return is_table(path) || has_event_files(path) || fs::is_directory(path, error);
}

std::vector<ForeignLog> read_foreign_logs(const fs::path& path) {
    return is_table(path) ? read_csv_logs(path) : read_tensorboard_logs(path);
}

std::vector<fs::path> write_foreign_runs(const std::vector<ForeignLog>& logs,
                                         const fs::path& folder) {
    std::vector<fs::path> out;
    for (const ForeignLog& log : logs) {
        out.push_back(folder / (std::string(archived_run) + std::to_string(out.size() + 1)));
        ForeignRun(log).write(out.back());
    }
    return out;
}

}  // namespace engine
