#include <gtest/gtest.h>

#include <cmath>

#include "engine/settings/catalog.h"
#include "ops/index/sparse.h"
#include "optim/optimizers.h"
#include "support/device_support.h"
#include "tensor/cast.h"
#include "tensor/transfer.h"
#include "train/step/make_optimizer.h"

// Counts updates of 16-bit weights that round to no change: the optimizers' counts are compared
// with the weights before and after.

namespace engine::test {
namespace {

/// 400 values of magnitude 1/4 to 1, of both signs.
Tensor uneven(unsigned seed, DType dtype) {
    std::vector<double> values;
    for (unsigned i = 0; i < 400; ++i) {
        const unsigned mixed = (i + 1) * 2654435761u + seed * 40503u;
        const double size = 0.25 + 0.75 * static_cast<double>(mixed >> 20) / 4096;
        values.push_back(mixed & 1024u ? size : -size);
    }
    return to(Tensor::of(values, {400}, DType::f32), dtype);
}

kernels::UpdateCounts counted(const Optimizer& optimizer) {
    kernels::UpdateCounts counts{};
    copy_to_host(&counts, optimizer.counts().data(), sizeof counts, optimizer.device());
    return counts;
}

std::int64_t unchanged(const std::vector<double>& before, const std::vector<double>& after) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < before.size(); ++i) count += before[i] == after[i];
    return count;
}

struct Weight {
    explicit Weight(DType dtype) : tensor(uneven(1, dtype)) { tensor.set_requires_grad(true); }
    Tensor tensor;
};

/// Updates a 16-bit weight at rising learning rates. Compares each count with the change of the
/// weight, or of its master.
void expect_counts(Optimizer& optimizer, const Tensor& weight, const std::string& what) {
    const auto stored = [&] {
        return optimizer.master(0).defined() ? optimizer.master(0).values() : weight.values();
    };
    std::int64_t lost = 0;
    constexpr int steps = 8;
    for (unsigned step = 0; step < steps; ++step) {
        optimizer.set_lr(std::ldexp(1.0, 4 * static_cast<int>(step) - 30));
        weight.set_grad(uneven(10 + step, weight.dtype()));
        const auto before = stored();
        optimizer.step();
        const kernels::UpdateCounts counts = counted(optimizer);
        // No gradient is 0, and therefore no update.
        EXPECT_EQ(counts.nonzero, 400) << what;
        EXPECT_EQ(counts.lost, unchanged(before, stored())) << what;
        lost += counts.lost;
    }
    EXPECT_GT(lost, 0) << what << ": no update was small enough to show the count";
    EXPECT_LT(lost, 400 * steps) << what << ": no update was large enough to show the count";
}

TEST(LostUpdates, AreCountedByEveryOptimizerInBoth16BitTypesWithMastersAndWithout) {
    for (const auto& info : optimizers())
        for (const bool larc : {false, true})
            for (const DType dtype : {DType::f16, DType::bf16})
                for (const bool masters : {false, true}) {
                    OptimizerConfig config{.kind = info.kind, .options = {}};
                    config.options["larc"] = larc;
                    config.options["larc_clip"] = false;
                    // A 16-bit momentum may underflow to 0 by itself.
                    config.options["momentum"] = 0.0;
                    config.options["weight_decay"] = 0.0;
                    const Weight weight(dtype);
                    const auto optimizer =
                        make_optimizer(config, {{"w", weight.tensor}}, {.master_weights = masters});
                    expect_counts(*optimizer, weight.tensor,
                                  info.kind + (larc ? " larc " : " ") + name(dtype) +
                                      (masters ? " masters" : ""));
                }
}

TEST(LostUpdates, OfASparseGradientAreThoseOfItsRows) {
    Tensor weight = Tensor::of({1, 1, 1, 1, 1, 1}, {3, 2}, DType::f16);
    weight.set_requires_grad(true);
    // The first update of Adam is the learning rate. Half a unit below 1 is 2^-12.
    SparseAdam optimizer({{"w", weight}}, {.lr = 0x1p-13}, {});
    const auto grad_of = [](double row) {
        return sparse_tensor(Tensor::of({row}, {1, 1}, DType::i64),
                             Tensor::of({1, -1}, {1, 2}, DType::f16), {3, 2});
    };
    weight.set_grad(grad_of(2));
    optimizer.step();
    EXPECT_EQ(counted(optimizer).nonzero, 2);
    EXPECT_EQ(counted(optimizer).lost, 2);
    optimizer.set_lr(0x1p-8);
    weight.set_grad(grad_of(0));
    optimizer.step();
    EXPECT_EQ(counted(optimizer).nonzero, 2);
    EXPECT_EQ(counted(optimizer).lost, 0);
}

TEST(LostUpdates, AreMeasuredInEveryRunWhoseWeightsAreStoredIn16BitsAndInNoOther) {
    for (const auto& info : optimizers())
        for (const char* precision : {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"}) {
            RunConfig config = small_run("mlp", precision);
            config.optimizer.kind = info.kind;
            const bool low = resolve(config.precision).weights == WeightFormat::fp16;
            const bool masters = resolve(config.precision).master_weights;
            // The size of some optimizers' updates is the learning rate, that of others depends on
            // the gradients: fp16 loses updates at the first rate in either case, and f32 keeps
            // them at the second.
            config.optimizer.options["lr"] = masters ? 1e-4 : 1e-5;
            config.scaler.init_scale = 1024;
            TrainerFixture fixture(config, default_device());
            for (int step = 0; step < 3; ++step) {
                const float share = fixture.step(step).row.lost_update_share;
                const std::string what = info.kind + " " + precision;
                EXPECT_EQ(std::isnan(share), !low) << what;
                if (low) {
                    EXPECT_EQ(share < 0.1f, masters) << what << ": f32 keeps what fp16 loses";
                }
            }
        }
}

TEST(GradientZeros, AreTheShareOfParameterGradientsThatAreExactlyZero) {
    RunConfig config = small_run("mlp", "fp32");
    TrainerFixture fixture(config, default_device());
    const float share = fixture.step(0).row.grad_zero_share;
    std::int64_t zeros = 0, total = 0;
    for (const auto& parameter : fixture.trainer.model().parameters())
        for (const double value : parameter.tensor.grad().values()) {
            zeros += value == 0;
            ++total;
        }
    EXPECT_GT(zeros, 0) << "units that are off for all of a small batch";
    EXPECT_FLOAT_EQ(share, static_cast<float>(zeros) / static_cast<float>(total));
}

}  // namespace
}  // namespace engine::test
