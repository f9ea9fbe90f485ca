#include "resume_support.h"
#include "support/device_support.h"

// A run that stops and is resumed, on any device. Steps that were replayed before the stop are
// eager after it and then captured again.
namespace engine {
namespace {

class ResumedRun : public test::ResumedRuns {};

TEST_F(ResumedRun, HasTheBitsOfOneThatWasNotStopped) {
    RunConfig config = test::small_run("mlp", "amp-fp16");
    config.scaler.init_scale = 1 << 24;
    config.max_steps = 9;
    const test::Ended whole = train(config);
    const test::Ended stopped = train_to(config, 5);
    expect_same_end(whole, resume(stopped));
}

}  // namespace
}  // namespace engine
