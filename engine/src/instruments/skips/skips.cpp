#include "engine/instruments/skips.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "engine/base/error.h"
#include "engine/base/message.h"
#include "engine/runs/checkpoint.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/step_variant.h"
#include "instruments/replay/tensor_scan.h"
#include "instruments/skips/skip_examination.h"
#include "instruments/skips/skip_files.h"
#include "instruments/skips/skip_verdict.h"
#include "runs/event_file.h"
#include "runs/stored_run.h"
#include "train/run/saved_run.h"
#include "train/run/skipped_batches.h"
#include "train/step/training_state.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

bool is_finite(const TensorMap& tensors) {
    for (const auto& [name, tensor] : tensors) {
        if (is_floating(tensor.dtype()) && !std::isfinite(largest_magnitude(tensor))) return false;
    }
    return true;
}

/// Whether weights, buffers, optimizer state and carried state are finite.
bool is_finite(const TrainingState& state) {
    return is_finite(state.weights) && is_finite(state.optimizer) && is_finite(state.carried);
}

/// The step of the newest checkpoint before `step` whose state is finite; 0: none.
std::int64_t newest_finite(const std::filesystem::path& run_folder, std::int64_t step) {
    for (const CheckpointInfo& each : std::views::reverse(list_checkpoints(run_folder))) {
        if (each.step >= step) continue;
        try {
            if (is_finite(read_saved_run(each.folder).training)) return each.step;
        } catch (const Error&) {
            continue;  // a damaged file
        }
    }
    return 0;
}

/// Finds the step that made the state non-finite before `step`. Computes the run again, from the
/// newest checkpoint with a finite state, else from the start, until the state is non-finite. 0:
/// the state was non-finite from the start, or is finite. Throws Error as RunReplay does.
std::int64_t step_that_damaged(const std::filesystem::path& run_folder, std::int64_t step,
                               const std::function<void(const Message&)>& progress) {
    RunReplay replay(run_folder, step, newest_finite(run_folder, step));
    if (!is_finite(replay.state())) return 0;
    while (replay.remaining() > 0) {
        const std::int64_t next = step - replay.remaining();
        progress(msg("Looking for the step that damaged the state: step {}", next));
        replay.advance();
        if (!is_finite(replay.state())) return next;
    }
    return 0;
}

constexpr double unlikely = 0.01;
constexpr std::size_t suspects = 3;  // of a step, by their shares

std::vector<double> column(const StepRecordReader& record, float StepRecord::*member) {
    std::vector<double> out(static_cast<std::size_t>(record.size()));
    record.column(member, 0, out);
    return out;
}

std::vector<RecurringSample> recurring_samples(const SkipList& skips) {
    std::map<std::int64_t, std::vector<std::int64_t>> steps;
    for (const SkippedStep& each : skips.list) {
        if (!each.report) continue;
        const auto& samples = each.report->samples;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (i < suspects || samples[i].bad > 0) steps[samples[i].sample].push_back(each.step);
        }
    }
    std::vector<RecurringSample> out;
    for (auto& [sample, of] : steps) {
        if (of.size() > 1) out.push_back({sample, std::move(of)});
    }
    std::ranges::stable_sort(out, [](const RecurringSample& a, const RecurringSample& b) {
        return a.steps.size() > b.steps.size();
    });
    return out;
}

StepCapsule load_capsule(const fs::path& run_folder, std::int64_t step,
                         const SkipOptions& options) {
    StepCapsule capsule = capsule_before(run_folder, step, [&](std::int64_t remaining) {
        options.replay(remaining);
        options.progress(msg("Computing the run again: {} steps to go", remaining));
    });
    if (!options.device.empty()) capsule.config.device = options.device;
    return capsule;
}

/// Micro-batch and row of a sample. Throws Error(value).
std::pair<std::int64_t, std::int64_t> place_of(const StepCapsule& capsule, std::int64_t sample) {
    for (std::size_t i = 0; i < capsule.batches.size(); ++i) {
        const auto& indices = capsule.batches[i].indices;
        const auto found = std::ranges::find(indices, sample);
        if (found != indices.end()) return {static_cast<std::int64_t>(i), found - indices.begin()};
    }
    throw Error(ErrorCode::value,
                msg("Sample {} is not in the batch of step {}.", sample, capsule.step()));
}

/// The probability of at least k successes in n independent tries with probability p.
double tail(std::int64_t n, double p, std::int64_t k) {
    if (!(p < 1)) return 1;
    double sum = 0;
    const auto gamma = [](std::int64_t of) { return std::lgamma(static_cast<double>(of)); };
    for (std::int64_t i = k; i <= n; ++i) {
        const double choose = gamma(n + 1) - gamma(i + 1) - gamma(n - i + 1);
        sum += std::exp(choose + static_cast<double>(i) * std::log(p) +
                        static_cast<double>(n - i) * std::log1p(-p));
    }
    return sum;
}

/// Samples that are in more of the batches than chance gives to any sample of the data set.
void add_recurring_in_batches(const fs::path& run_folder, std::int64_t samples, SkipList& skips) {
    const auto batches = read_skipped_batches(run_folder);
    std::map<std::int64_t, std::vector<std::int64_t>> steps;
    std::int64_t known = 0, sizes = 0;
    for (const SkippedStep& each : skips.list) {
        const auto batch = batches.find(each.step);
        if (batch == batches.end()) continue;
        ++known;
        sizes += std::ssize(batch->second);
        for (const std::int64_t sample : batch->second) {
            auto& of = steps[sample];
            if (of.empty() || of.back() != each.step) of.push_back(each.step);
        }
    }
    if (known < 2 || samples == 0) return;
    const auto all = static_cast<double>(samples);
    const double share = static_cast<double>(sizes) / static_cast<double>(known) / all;
    std::map<std::size_t, double> chances;  // by how often
    for (auto& [sample, of] : steps) {
        if (of.size() < 2) continue;
        const auto [chance, is_new] = chances.try_emplace(of.size(), 0.0);
        if (is_new) chance->second = all * tail(known, share, static_cast<std::int64_t>(of.size()));
        const auto here = std::ranges::find(skips.recurring, sample, &RecurringSample::sample);
        if (chance->second < unlikely && here == skips.recurring.end())
            skips.recurring.push_back({sample, std::move(of), chance->second});
    }
}

std::int64_t train_samples(const fs::path& run_folder) {
    const auto started = last_start(run_folder);
    return started ? started->train_samples : 0;
}

SkippedStep step_of(const StepRecord& row) {
    return {.step = row.step,
            .skipped = row.found_inf != 0,
            .loss = static_cast<double>(row.loss),
            .loss_scale = static_cast<double>(row.loss_scale),
            .grad_norm = static_cast<double>(row.grad_norm)};
}

/// Adds steps whose row is finite but whose examination found a fault: an optimizer made a weight
/// non-finite.
void add_reported(std::map<std::int64_t, SkipReport>& reports, const StepRecordReader& record,
                  SkipList& out) {
    for (auto& [step, report] : reports) {
        if (report.cause == SkipCause::unknown || step < 1 || step > record.size()) continue;
        const auto at = std::ranges::lower_bound(out.list, step, {}, &SkippedStep::step);
        if (at != out.list.end() && at->step == step) continue;
        SkippedStep found = step_of(record.row(step - 1));
        found.report = std::move(report);
        out.list.insert(at, std::move(found));
    }
}

}  // namespace

SkipList list_skips(const fs::path& run_folder) {
    const StoredRun run = read_stored_run(run_folder, keep_no_event);
    const StepRecordReader record = StepRecordReader::open(run_folder);
    auto reports = read_skip_reports(run_folder);
    const auto losses = column(record, &StepRecord::loss);
    const auto norms = column(record, &StepRecord::grad_norm);
    std::vector<double> found(losses.size());
    record.column(&StepRecord::found_inf, 0, found);
    // Figures that another program did not measure are NaN in its record.
    const bool measured = !run.summary.origin;
    SkipList out;
    out.run = run.summary.run;
    out.steps = record.size();
    out.clean_steps = out.steps;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const bool non_finite = !std::isfinite(losses[i]) || !std::isfinite(norms[i]);
        if (found[i] == 0 && !(measured && non_finite)) continue;
        SkippedStep step = step_of(record.row(static_cast<std::int64_t>(i)));
        if (const auto report = reports.find(step.step); report != reports.end()) {
            step.report = std::move(report->second);
            reports.erase(report);
        }
        out.list.push_back(std::move(step));
    }
    add_reported(reports, record, out);
    if (!out.list.empty()) out.clean_steps = out.steps - out.list.back().step;
    out.recurring = recurring_samples(out);
    add_recurring_in_batches(run_folder, train_samples(run_folder), out);
    return out;
}

SkipReport examine_skip(const fs::path& run_folder, std::int64_t step, const SkipOptions& options) {
    const StepCapsule capsule = load_capsule(run_folder, step, options);
    ExaminationOptions how;
    how.progress = options.progress;
    how.operation = options.operation;
    SkipReport report = examine_step(capsule, how);
    report.run = EventFile(run_folder).run();
    if (report.cause == SkipCause::damaged_state) {
        report.damaged_at = step_that_damaged(run_folder, step, options.progress);
        report.advice = advice_for(report.cause, report);
    }
    report.advice =
        advice_in_run(report, capsule.config, StepRecordReader::open(run_folder));
    try {
        keep_examination(run_folder, capsule, report);
    } catch (const Error&) {
        // A folder that cannot be written does without the file.
    }
    return report;
}

StepTrial retry_step(const fs::path& run_folder, std::int64_t step, const RetryChange& change,
                     const SkipOptions& options) {
    const StepCapsule capsule = load_capsule(run_folder, step, options);
    StepVariant variant;
    variant.scale = change.scale;
    variant.fp32 = change.fp32;
    if (change.without) {
        const auto [micro_batch, row] = place_of(capsule, *change.without);
        variant.micro_batch = micro_batch;
        variant.without_row = row;
    }
    return try_step(capsule, variant);
}

}  // namespace engine
