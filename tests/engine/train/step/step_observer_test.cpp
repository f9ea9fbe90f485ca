#include "train/step/step_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "step_support.h"

namespace engine {
namespace {

using test::pair_fixture;
using test::pair_run;
using testing::ElementsAre;

/// Logs its calls. Throws in the call that a test selects.
class Listed final : public StepObserver {
public:
    std::vector<std::string> calls;
    std::int64_t only = 0;  // 0: every step
    std::string failing;

    bool observes(std::int64_t step) const override { return only == 0 || step == only; }
    void begin(const StepView& step) override { note("begin " + std::to_string(step.step)); }
    void before_forward(const StepView& step, DeviceBatch& batch, TensorList&) override {
        EXPECT_EQ(batch.rows, 8);
        note("forward " + place(step));
    }
    void after_forward(const StepView& step, const TensorList& losses) override {
        EXPECT_EQ(losses.size(), 1U);
        note("computed " + place(step));
    }
    void after_backward(const StepView& step) override { note("backward " + place(step)); }
    void before_update(const StepView& step) override {
        note("update " + std::to_string(step.phase) + " of " +
             std::to_string(step.optimizers.size()));
    }
    void after_update(const StepView& step) override {
        note("updated " + std::to_string(step.phase));
    }
    void end(const StepView&) override { calls.emplace_back("end"); }

private:
    static std::string place(const StepView& step) {
        return std::to_string(step.phase) + "." + std::to_string(step.micro_batch);
    }
    void note(const std::string& call) {
        calls.push_back(call);
        if (call == failing) throw Error(ErrorCode::training, msg("as it was told"));
    }
};

std::unique_ptr<test::StepFixture> adversaries(std::int64_t accumulate) {
    return pair_fixture(pair_run("amp-fp16", accumulate), default_device(),
                        std::make_unique<test::Adversaries>());
}

TEST(StepObserver, SeesThePartsOfAStepInOrder) {
    const auto fixture = adversaries(2);
    const auto seen = std::make_shared<Listed>();
    fixture->step->observers().attach(seen);
    fixture->make(0);
    fixture->compute();
    EXPECT_THAT(seen->calls,
                ElementsAre("begin 1",                                      //
                            "forward 0.0", "computed 0.0", "backward 0.0",  //
                            "forward 0.1", "computed 0.1", "backward 0.1",  //
                            "update 0 of 2", "updated 0",                   //
                            "forward 1.0", "computed 1.0", "backward 1.0",  //
                            "forward 1.1", "computed 1.1", "backward 1.1",  //
                            "update 1 of 2", "updated 1", "end"));
}

TEST(StepObserver, SeesTheStepsThatItWantsUntilItIsDetached) {
    const auto fixture = adversaries(1);
    const auto all = std::make_shared<Listed>(), second = std::make_shared<Listed>();
    second->only = 2;
    fixture->step->observers().attach(all);
    fixture->step->observers().attach(second);
    for (int i = 0; i < 3; ++i) {
        fixture->make(i);
        fixture->compute();
    }
    EXPECT_EQ(std::ranges::count(all->calls, "end"), 3);
    EXPECT_EQ(second->calls.front(), "begin 2");
    EXPECT_EQ(std::ranges::count(second->calls, "end"), 1);
    fixture->step->observers().detach(*all);
    fixture->make(3);
    fixture->compute();
    EXPECT_EQ(std::ranges::count(all->calls, "end"), 3);
}

TEST(StepObserver, IsToldOfTheEndOfAStepThatFails) {
    const auto fixture = adversaries(1);
    const auto seen = std::make_shared<Listed>();
    seen->failing = "computed 1.0";
    fixture->step->observers().attach(seen);
    fixture->make(0);
    EXPECT_THROW(fixture->compute(), Error);
    EXPECT_EQ(seen->calls.back(), "end");
}

TEST(StepObserver, ChangesNothing) {
    const auto plain = adversaries(2), observed = adversaries(2);
    observed->step->observers().attach(std::make_shared<Listed>());
    for (int i = 0; i < 4; ++i) {
        for (const auto& fixture : {plain.get(), observed.get()}) {
            fixture->make(i);
            fixture->compute();
        }
        EXPECT_EQ(plain->weights(), observed->weights());
    }
}

/// Replaces the model's input by zeros.
class Zeros final : public StepObserver {
public:
    void before_forward(const StepView&, DeviceBatch& batch, TensorList&) override {
        for (Tensor& field : batch.fields)
            field = Tensor::zeros(field.shape(), field.dtype(), field.device());
    }
};

TEST(StepObserver, MayReplaceWhatTheTaskReads) {
    const auto fixture = adversaries(1), zeros = adversaries(1);
    fixture->step->observers().attach(std::make_shared<Zeros>());
    fixture->make(0);
    zeros->make(0);
    for (std::size_t f = 0; f < 2; ++f) test::fill_field(zeros->batches[0], f, 0);
    EXPECT_EQ(fixture->compute().sums.loss, zeros->compute().sums.loss);
    EXPECT_EQ(fixture->weights(), zeros->weights());
}

}  // namespace
}  // namespace engine
