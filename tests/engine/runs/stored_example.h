#pragma once

#include <cmath>
#include <filesystem>
#include <limits>

#include "engine/runs/run_store.h"
#include "record/step_record.h"
#include "support/part_figures.h"

namespace engine {

/// A stored run of `steps` steps. The second step was skipped with a NaN loss. It has a finished
/// epoch, a warning, a title, tags and notes.
inline RunStore::NewRun stored_example(RunStore& store, std::int64_t steps = 3) {
    RunConfig config;
    config.seed = 7;
    const auto run = store.create(completed(config), {}, "a-group");
    RunStarted started{};
    started.run = run.run;
    started.config = completed(config);
    started.device = "cpu";
    started.folder = run.folder.string();
    store.append(started);
    auto record = StepRecordWriter::create(run.folder);
    for (std::int64_t i = 1; i <= steps; ++i) {
        StepRecord row{};
        row.step = i;
        row.updates = i > 1 ? i - 1 : i;
        row.samples = 128 * i;
        row.elapsed_s = 0.5 * static_cast<double>(i);
        row.clock_s = 1.7e9 + static_cast<double>(i);
        row.loss = i == 2 ? std::numeric_limits<float>::quiet_NaN() : 1.F / static_cast<float>(i);
        row.accuracy = 0.25F * static_cast<float>(i);
        row.loss_scale = i > 2 ? 32768.F : 65536.F;
        row.found_inf = i == 2 ? 1 : 0;
        row.grad_norm = i == 2 ? std::numeric_limits<float>::infinity() : 1.F;
        row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
        record.append(row);
    }
    store.append(RunWarning{run.run, msg("careful")});
    store.append(EpochDone{run.run, 1, steps, classified(0.6, 0.7), {}, classified(0.5, 0.8), 1.5});
    store.append(RunDone{run.run, DoneReason::epochs, steps, steps - 1, 1, classified(0.5, 0.8),
                         1.5, 800, 1024});
    store.set_title(run.run, "first try");
    store.set_tags(run.run, "a, b");
    store.set_notes(run.run, "line\nline");
    store.set_starred(run.run, true);
    return run;
}

}  // namespace engine
