#include "instruments/replay/first_step.h"

#include "instruments/replay/scratch_folder.h"
#include "train/run/run_loop.h"

namespace engine {

StepCapsule first_step(const RunConfig& config) {
    const ScratchFolder scratch;
    RunStore store(scratch.path() / "runs");
    SessionOptions options;
    options.save_checkpoints = false;
    RunLoop loop(config, &store, options, [](const Event&) {});
    loop.prepare({});
    return loop.capsule();
}

}  // namespace engine
