#pragma once

#include <cstdint>
#include <fstream>

#include "engine/runs/run_store.h"
#include "record/step_record.h"
#include "runs/run_folder.h"
#include "support/part_figures.h"

namespace engine::test {

/// The step of skip i of a long run.
inline std::int64_t step_of_skip(std::int64_t i, std::int64_t skips) { return 301 + i * 699 / skips; }

/// A stored run of 1,000 steps that was stopped, with so many skipped steps among its events, 300
/// evaluations and 300 warnings. The index has its first event and its last one alone.
inline RunStore::NewRun long_run(RunStore& store, std::int64_t skips) {
    const auto made = store.create(completed(RunConfig{}));
    {
        auto record = StepRecordWriter::create(made.folder);
        for (std::int64_t i = 1; i <= 1000; ++i) {
            StepRecord row{};
            row.step = i;
            row.elapsed_s = static_cast<double>(i);
            record.append(row);
        }
        RunStarted started{};
        started.run = made.run;
        started.config = completed(RunConfig{});
        store.append(started);
        std::ofstream events(made.folder / events_file, std::ios::app);
        const auto add = [&](const Event& event) { events << to_json_line(event) << '\n'; };
        for (std::int64_t i = 1; i <= 300; ++i) {
            add(EpochDone{made.run, i, i, {}, {}, classified(1.0 / static_cast<double>(i), 0.5), 1});
            add(RunWarning{made.run, msg("careful"), i});
        }
        const auto kind = ScaleChanged::Kind::skipped_persistent;
        for (std::int64_t i = 0; i < skips; ++i)
            add(ScaleChanged{made.run, step_of_skip(i, skips), kind, 2, 1, 0});
    }
    store.append(RunDone{made.run, DoneReason::stopped, 1000, 1000, 0, classified(0.5, 0.8), 1.5,
                         800, 1024});
    return made;
}

}  // namespace engine::test
