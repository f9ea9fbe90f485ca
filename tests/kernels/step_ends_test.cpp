#include "kernels/step_ends.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/device_array.h"

// The first and the last kernel of a training step.
namespace kernels::test {
namespace {

/// Values of a step, in memory on the host or on the device.
struct StepValues {
    MetricSums sums{};
    GradientStatistics statistics{};
    float f16_max = 7, lr[2] = {1, 1}, scale = 1024, found_inf = 0;
    std::int32_t tracker = 1, hysteresis = 1;
    std::int64_t resets = 3, updates[2] = {5, 9}, number = 41;
    double multiplier = 0.5;
    DeferredError refused = 12;
    StepFigures figures{};
};

constexpr LearningRateSchedule schedule{.base = 0.1, .planned = 20, .warmup = 6};

StepBeginning beginning_of(StepValues& v) {
    StepBeginning out;
    out.zeros[0] = {&v.sums, sizeof(v.sums) / 4};
    out.zeros[1] = {nullptr, 100};
    out.zeros[2] = {&v.f16_max, 1};
    out.zeros[3] = {&v.resets, 2};
    for (int i = 0; i < 2; ++i) {
        out.lr[2 * i] = &v.lr[i];
        out.updates[2 * i] = &v.updates[i];
    }
    out.multiplier = &v.multiplier;
    out.schedule = schedule;
    return out;
}

StepEnding ending_of(StepValues& v, bool scaled) {
    StepEnding out;
    out.before.sums = &v.sums;
    out.before.gradient_statistics = &v.statistics;
    out.before.scaled_f16_max = &v.f16_max;
    out.before.lr = &v.lr[0];
    out.before.loss_scale = &v.scale;
    if (scaled) {
        out.scale = &v.scale;
        out.growth_tracker = &v.tracker;
        out.hysteresis_left = &v.hysteresis;
        out.found_inf = &v.found_inf;
        out.rule.growth_interval = 2;
        out.number = &v.number;
    }
    out.after.next_loss_scale = &v.scale;
    out.after.growth_tracker = &v.tracker;
    out.after.updates[0] = &v.updates[0];
    out.after.deferred_error = &v.refused;
    return out;
}

TEST(StepEnds, TheBeginningClearsTheSumsAndSetsTheRates) {
    StepValues v;
    v.sums.values[3] = 5;
    cpu::begin_step(beginning_of(v), {});
    EXPECT_EQ(v.sums.values[3], 0);
    EXPECT_EQ(v.f16_max, 0);
    EXPECT_EQ(v.resets, 0);
    EXPECT_EQ(v.lr[0], static_cast<float>(learning_rate(schedule, 5) * 0.5));
    EXPECT_EQ(v.lr[1], static_cast<float>(learning_rate(schedule, 9) * 0.5));
    EXPECT_NE(v.lr[0], v.lr[1]);
    EXPECT_EQ(v.number, 41) << "and nothing else";
    EXPECT_EQ(v.scale, 1024);
}

TEST(StepEnds, TheEndTellsTheScaleOfTheStepAndOfTheNextOne) {
    StepValues v;
    v.sums.loss = 2.5;
    cpu::end_step(&v.figures, ending_of(v, true), {});
    EXPECT_EQ(v.figures.loss_scale, 1024);
    EXPECT_EQ(v.scale, 2048);
    EXPECT_EQ(v.figures.next_loss_scale, 2048);
    EXPECT_EQ(v.figures.growth_tracker, 0);
    EXPECT_EQ(v.number, 42);
    EXPECT_EQ(v.figures.sums.loss, 2.5);
    EXPECT_EQ(v.figures.scaled_f16_max, 7);
    EXPECT_EQ(v.figures.deferred_error, 12);
    EXPECT_EQ(v.refused, 0);
    v.found_inf = 1;
    cpu::end_step(&v.figures, ending_of(v, true), {});
    EXPECT_EQ(v.figures.loss_scale, 2048);
    EXPECT_EQ(v.figures.next_loss_scale, 1024);
}

TEST(StepEnds, TheEndWithoutAScaleMovesNone) {
    StepValues v;
    cpu::end_step(&v.figures, ending_of(v, false), {});
    EXPECT_EQ(v.figures.next_loss_scale, 1024);
    EXPECT_EQ(v.tracker, 1);
    EXPECT_EQ(v.number, 41);
}

TEST(StepEnds, TheEndFillsTheSlotsInTurn) {
    StepValues v;
    StepFigures slots[FigureSlots::count]{};
    StepEnding ending = ending_of(v, true);
    ending.slots = {{&slots[0], &slots[1]}};
    for (std::int64_t step = 1; step <= 4; ++step) {
        v.sums.loss = static_cast<double>(step);
        v.scale = static_cast<float>(1 << step);
        cpu::end_step(&v.figures, ending, {});
        const StepFigures &own = slots[(step - 1) % 2], &other = slots[step % 2];
        EXPECT_EQ(own.ended, step);
        EXPECT_EQ(own.sums.loss, v.sums.loss);
        EXPECT_EQ(own.next_loss_scale, v.scale) << "gathered last";
        EXPECT_EQ(other.ended, step - 1) << "left as it was";
    }
}

/// Figures in pinned memory.
class PinnedFigures {
public:
    PinnedFigures()
        : data_(static_cast<StepFigures*>(cuda::allocate_pinned(sizeof(StepFigures)))) {
        *data_ = {};
    }
    ~PinnedFigures() { cuda::release_pinned(data_); }
    PinnedFigures(const PinnedFigures&) = delete;
    PinnedFigures& operator=(const PinnedFigures&) = delete;
    StepFigures* get() const { return data_; }

private:
    StepFigures* data_;
};

TEST(CudaStepEnds, WriteTheFiguresIntoPinnedMemory) {
    HALFTONE_NEEDS_CUDA();
    StepValues host;
    host.sums.loss = 3;
    const DeviceValue<StepValues> device(host);
    const PinnedFigures even, odd;
    StepEnding ending = ending_of(*device.get(), true);
    ending.slots = {{even.get(), odd.get()}};
    for (int step = 0; step < 3; ++step) cuda::end_step(&device.get()->figures, ending, {});
    cuda::synchronize({});
    EXPECT_EQ(even.get()->ended, 3);
    EXPECT_EQ(even.get()->sums.loss, 3);
    EXPECT_EQ(odd.get()->ended, 2);
    EXPECT_EQ(odd.get()->next_loss_scale, even.get()->loss_scale);
    EXPECT_EQ(even.get()->deferred_error, 0) << "given by the first step";
}

TEST(CudaStepEnds, GiveTheBytesOfTheCpu) {
    HALFTONE_NEEDS_CUDA();
    for (const bool scaled : {true, false}) {
        StepValues host;
        host.sums.loss = 3;
        host.statistics.f16_abs_max = 9;
        const DeviceValue<StepValues> device(host);
        cuda::begin_step(beginning_of(*device.get()), {});
        cuda::end_step(&device.get()->figures, ending_of(*device.get(), scaled), {});
        cpu::begin_step(beginning_of(host), {});
        cpu::end_step(&host.figures, ending_of(host, scaled), {});
        const StepValues got = device.host();
        EXPECT_EQ(std::memcmp(&got, &host, sizeof(StepValues)), 0);
    }
}

}  // namespace
}  // namespace kernels::test
