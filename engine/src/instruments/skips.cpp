#include "engine/skips.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/error.h"
#include "instruments/damage_search.h"
#include "instruments/run_replay.h"
#include "instruments/skip_examination.h"
#include "instruments/skip_files.h"
#include "instruments/skip_verdict.h"
#include "instruments/step_trial.h"
#include "store/stored_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

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

StepCapsule capsule_of(const fs::path& run_folder, std::int64_t step, const SkipOptions& options) {
    StepCapsule capsule = capsule_before(run_folder, step, [&](std::int64_t remaining) {
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

}  // namespace

SkipList list_skips(const fs::path& run_folder) {
    const StoredRun run = read_stored_run(run_folder);
    const StepRecordReader record = StepRecordReader::open(run_folder);
    auto reports = read_skip_reports(run_folder);
    const auto losses = column(record, &StepRecord::loss);
    const auto norms = column(record, &StepRecord::grad_norm);
    std::vector<double> found(losses.size());
    record.column(&StepRecord::found_inf, 0, found);
    // What another program did not measure is NaN in its record.
    const bool measured = !run.summary.origin;
    SkipList out;
    out.run = run.summary.run;
    out.steps = record.size();
    out.clean_steps = out.steps;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const bool non_finite = !std::isfinite(losses[i]) || !std::isfinite(norms[i]);
        if (found[i] == 0 && !(measured && non_finite)) continue;
        const StepRecord row = record.row(static_cast<std::int64_t>(i));
        SkippedStep step{.step = row.step,
                         .skipped = row.found_inf != 0,
                         .loss = losses[i],
                         .loss_scale = static_cast<double>(row.loss_scale),
                         .grad_norm = norms[i]};
        if (const auto report = reports.find(row.step); report != reports.end())
            step.report = std::move(report->second);
        out.list.push_back(std::move(step));
        out.clean_steps = out.steps - static_cast<std::int64_t>(i) - 1;
    }
    out.recurring = recurring_samples(out);
    return out;
}

SkipReport examine_skip(const fs::path& run_folder, std::int64_t step, const SkipOptions& options) {
    const StepCapsule capsule = capsule_of(run_folder, step, options);
    ExaminationOptions how;
    how.progress = options.progress;
    SkipReport report = examine_step(capsule, how);
    report.run = read_stored_run(run_folder).summary.run;
    if (report.cause == SkipCause::damaged_state) {
        report.damaged_at = step_that_damaged(run_folder, step, options.progress);
        report.advice = advice_for(report.cause, report);
    }
    try {
        write_skip_report(run_folder, report);
    } catch (const Error&) {
        // A folder that cannot be written does without the file.
    }
    return report;
}

StepTrial retry_step(const fs::path& run_folder, std::int64_t step, const RetryChange& change,
                     const SkipOptions& options) {
    const StepCapsule capsule = capsule_of(run_folder, step, options);
    TrialChange trial;
    trial.scale = change.scale;
    trial.fp32 = change.fp32;
    if (change.without) {
        const auto [micro_batch, row] = place_of(capsule, *change.without);
        trial.micro_batch = micro_batch;
        trial.without_row = row;
    }
    return try_step(capsule, trial);
}

}  // namespace engine
