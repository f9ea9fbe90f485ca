#include "instruments/search/short_run.h"

#include <algorithm>

#include "instruments/replay/scratch_folder.h"
#include "train/run/run_loop.h"

namespace engine {

ShortRun short_run(const RunConfig& config, std::int64_t steps,
                   const std::function<void()>& after_step) {
    const ScratchFolder scratch;
    RunStore store(scratch.path() / "runs");
    RunConfig own = config;
    own.max_steps = steps;
    own.epochs = std::max(own.epochs, steps);  // a data set of few batches is read again
    SessionOptions options;
    options.save_checkpoints = false;
    options.evaluate = false;
    RunLoop loop(own, &store, options, [](const Event&) {});
    loop.prepare({});
    while (!loop.finished()) {
        loop.train_step();
        after_step();
    }
    loop.settle();
    const StepRecordReader record = loop.record();
    const std::int64_t made = record.size(), from = made - std::max<std::int64_t>(made / 4, 1);
    ShortRun out;
    for (std::int64_t i = from; i < made; ++i) out.loss += record.row(i).loss;
    out.loss /= static_cast<double>(made - from);
    out.skipped = record.row(made - 1).step - record.row(made - 1).updates;
    return out;
}

}  // namespace engine
