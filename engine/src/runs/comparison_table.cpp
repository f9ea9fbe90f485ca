#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "engine/base/metric.h"
#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/record/figures.h"
#include "engine/runs/comparison.h"
#include "engine/runs/end_notice.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

template <typename F>
std::vector<double> over_seeds(const ComparedRuns& compared, F&& figure) {
    std::vector<double> values;
    for (const auto& run : compared.runs) values.push_back(figure(run));
    return values;
}

template <typename F>
double mean_over_seeds(const ComparedRuns& compared, F&& figure) {
    return mean_and_spread(over_seeds(compared, figure)).mean;
}

/// Largest or smallest, NaN left out; NaN if nothing is left.
double best_of(const std::vector<double>& values, bool higher_is_better) {
    double best = unknown;
    for (const double value : values) {
        if (std::isnan(best) || (higher_is_better ? value > best : value < best)) best = value;
    }
    return best;
}

template <typename F>
std::vector<double> test_values(const FinishedRun& run, F&& figure) {
    std::vector<double> values;
    for (const TestResult& test : run.tests) values.push_back(figure(test.figures));
    return values;
}

double last_of(const std::vector<double>& values) {
    return values.empty() ? unknown : values.back();
}

/// Peak memory of training alone: an evaluation saves nothing for backward, so no precision has an
/// advantage there.
double peak_bytes(const FinishedRun& run) {
    const std::int64_t most = key_figures(run.record, {}).peak_bytes;
    return most > 0 ? static_cast<double>(most) : unknown;
}

/// Speeds of run `seed` of every precision, over the same steps of all of them: they took turns.
std::vector<Speed> speeds_of_seed(const std::vector<ComparedRuns>& precisions, std::size_t seed) {
    std::vector<StepRecordReader> records;
    for (const auto& compared : precisions) {
        records.push_back(seed < compared.runs.size() ? compared.runs[seed].record
                                                      : StepRecordReader());
    }
    return speeds(records);
}

void add_speeds(const std::vector<ComparedRuns>& precisions, std::vector<ComparisonRow>& rows) {
    std::size_t seeds = 0;
    for (const auto& compared : precisions) seeds = std::max(seeds, compared.runs.size());
    std::vector<std::vector<double>> step_ms(rows.size()), samples(rows.size());
    for (std::size_t seed = 0; seed < seeds; ++seed) {
        const auto measured = speeds_of_seed(precisions, seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            samples[i].push_back(measured[i].samples_per_s);
            step_ms[i].push_back(measured[i].step_ms);
            if (seed + 1 == precisions[i].runs.size()) rows[i].speed = measured[i];
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].speed.step_ms = mean_and_spread(step_ms[i]).mean;
        rows[i].speed.samples_per_s = mean_and_spread(samples[i]).mean;
        rows[i].speed_up = rows[i].speed.samples_per_s / rows.front().speed.samples_per_s;
    }
}

ComparisonRow row_of(const ComparedRuns& compared) {
    ComparisonRow row;
    row.precision = compared.precision;
    row.seeds = compared.runs.size();
    row.diverged = static_cast<std::size_t>(
        std::count_if(compared.runs.begin(), compared.runs.end(),
                      [](const FinishedRun& run) { return end_state(run.done) == "diverged"; }));
    const auto over = [&](auto figure) { return mean_and_spread(over_seeds(compared, figure)); };
    row.metric = compared.metric;
    const auto losses = [](const FinishedRun& run) {
        return test_values(run, [](const PartFigures& test) { return test.loss; });
    };
    const auto values = [&](const FinishedRun& run) {
        const std::string& key = row.metric.key;
        return test_values(run, [&](const PartFigures& test) {
            return key.empty() ? std::numeric_limits<double>::quiet_NaN()
                               : ranked_figure(test, key);
        });
    };
    row.best_test_loss = over([&](const FinishedRun& run) { return best_of(losses(run), false); });
    row.last_test_loss = over([&](const FinishedRun& run) { return last_of(losses(run)); });
    row.best_test_metric = over(
        [&](const FinishedRun& run) { return best_of(values(run), row.metric.higher_is_better); });
    row.last_test_metric = over([&](const FinishedRun& run) { return last_of(values(run)); });
    row.step_ms = over([](const FinishedRun& run) { return key_figures(run.record, {}).step_ms; });
    row.samples_per_s =
        over([](const FinishedRun& run) { return key_figures(run.record, {}).samples_per_s; });
    const auto mean = [&](auto figure) { return mean_over_seeds(compared, figure); };
    row.peak_bytes = mean(peak_bytes);
    row.updates =
        mean([](const FinishedRun& run) { return static_cast<double>(run.done.updates); });
    row.skipped =
        mean([](const FinishedRun& run) { return static_cast<double>(run.done.skipped); });
    row.growths = mean([](const FinishedRun& run) { return static_cast<double>(run.growths); });
    return row;
}

std::string name_of(const ComparisonRow& row) {
    if (row.diverged == 0) return row.precision;
    if (row.diverged == row.seeds) return row.precision + " (diverged)";
    return row.precision + " (" + std::to_string(row.diverged) + " of " +
           std::to_string(row.seeds) + " diverged)";
}

Table::Row to_cells(const ComparisonRow& row) {
    const bool spread = row.seeds > 1;
    return {name_of(row),
            spread_text("%.4f", row.best_test_loss, spread),
            spread_text("%.4f", row.last_test_loss, spread),
            spread_text("%.4f", row.best_test_metric, spread),
            spread_text("%.4f", row.last_test_metric, spread),
            spread_text("%.3f", row.step_ms, spread),
            spread_text("%.0f", row.samples_per_s, spread),
            Cell(row.speed_up, "%.2fx"),
            std::isfinite(row.peak_bytes) ? bytes_text(std::llround(row.peak_bytes)) : Cell(),
            Cell(row.updates, "%.0f"),
            Cell(row.skipped, "%.0f"),
            Cell(row.growths, "%.0f")};
}

bool is_preset(const std::string& name) { return find_kind(precisions(), name) != nullptr; }

bool scales_loss(const PrecisionConfig& precision) {
    return is_preset(precision.preset) && resolve(precision).scaler != ScalerMode::off;
}

/// Nothing where the preset says the same.
std::optional<ScalerMode> chosen_scaler(const PrecisionConfig& precision) {
    const bool differs = precision.scaler && is_preset(precision.preset) &&
                         *precision.scaler != resolve({.preset = precision.preset}).scaler;
    return differs ? precision.scaler : std::nullopt;
}

}  // namespace

RunConfig in_precision(RunConfig config, const std::string& preset) {
    const auto scaler = chosen_scaler(config.precision);
    config.precision = {.preset = preset};
    if (scales_loss(config.precision)) config.precision.scaler = scaler;
    return config;
}

std::vector<std::string> overrides_left_out(const RunConfig& config,
                                            std::span<const std::string> presets) {
    const PrecisionConfig& chosen = config.precision;
    std::vector<std::string> out;
    const auto leave_out = [&out](bool is_chosen, const char* path) {
        if (is_chosen) out.emplace_back(path);
    };
    leave_out(chosen.weights.has_value(), "precision.weights");
    leave_out(chosen.autocast.has_value(), "precision.autocast");
    leave_out(chosen.batch_norm.has_value(), "precision.batch_norm");
    leave_out(chosen.master_weights.has_value(), "precision.master_weights");
    const bool some_scale = std::ranges::any_of(
        presets, [](const std::string& preset) { return scales_loss({.preset = preset}); });
    leave_out(chosen_scaler(chosen).has_value() && !some_scale, "precision.scaler");
    leave_out(!chosen.force.empty(), "precision.force");
    return out;
}

std::string spread_text(const char* format, const MeanSpread& value, bool with_spread) {
    std::string text = number_text(format, value.mean);
    if (with_spread && std::isfinite(value.mean)) text += " ±" + number_text(format, value.spread);
    return text;
}

MeanSpread mean_and_spread(const std::vector<double>& values) {
    std::vector<double> known;
    std::copy_if(values.begin(), values.end(), std::back_inserter(known),
                 [](double value) { return !std::isnan(value); });
    if (known.empty()) return {unknown, unknown};
    const auto count = static_cast<double>(known.size());
    double sum = 0;
    for (const double value : known) sum += value;
    const double mean = sum / count;
    double squares = 0;
    for (const double value : known) squares += (value - mean) * (value - mean);
    return {mean, known.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

std::vector<ComparisonRow> compare_runs(const std::vector<ComparedRuns>& precisions) {
    std::vector<ComparisonRow> rows;
    for (const auto& compared : precisions) rows.push_back(row_of(compared));
    add_speeds(precisions, rows);
    return rows;
}

std::string comparison_table(const std::vector<ComparisonRow>& rows, const std::string& unit) {
    const std::string key = rows.empty() || rows.front().metric.key.empty()
                                ? std::string("metric")
                                : rows.front().metric.key;
    Table table{{"precision", "best loss", "last loss", "best " + key, "last " + key, "ms/step",
                 unit, "speed-up in turns", "peak", "updates", "skipped", "growths"}};
    for (const auto& row : rows) table.rows.push_back(to_cells(row));
    return to_text(table, 1);
}

}  // namespace engine
