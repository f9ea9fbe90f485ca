#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "ops/index/sparse.h"
#include "support/click_run.h"

// Training steps of models whose tables have sparse gradients.
namespace engine {
namespace {

using test::cuda;
using test::small_click_run;
using test::TrainerFixture;

std::vector<std::vector<double>> weights_of(TrainerFixture& fixture) {
    std::vector<std::vector<double>> out;
    for (const Parameter& parameter : fixture.trainer.model().parameters())
        out.push_back(parameter.tensor.values());
    return out;
}

/// The rows of a table that changed.
std::set<std::size_t> changed_rows(const std::vector<double>& a, const std::vector<double>& b) {
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) rows.insert(i / 4);
    return rows;
}

TEST(SparseStep, UpdatesTheRowsThatTheBatchNamesAndNoOthers) {
    for (const char* optimizer : {"sparse-adam", "adagrad", "sgd"}) {
        SCOPED_TRACE(optimizer);
        TrainerFixture fixture(small_click_run("fp32", optimizer), default_device());
        fixture.step(0);
        const auto before = weights_of(fixture);
        fixture.step(1);
        const auto after = weights_of(fixture);
        const auto ids = fixture.batches[0].fields[0].values<std::int64_t>();
        for (std::size_t t = 0; t < 3; ++t) {
            std::set<std::size_t> named;
            for (std::size_t r = t; r < ids.size(); r += 3)
                named.insert(static_cast<std::size_t>(ids[r]));
            ASSERT_LT(named.size(), 20u) << "some rows are left out";
            const auto changed = changed_rows(before[t], after[t]);
            EXPECT_TRUE(std::includes(named.begin(), named.end(), changed.begin(), changed.end()));
            EXPECT_FALSE(changed.empty());
        }
    }
}

// Adagrad and plain SGD do not change a row whose gradient is 0, so their updates must equal the
// dense ones.
TEST(SparseStep, IsTheDenseStepWithClippingAndMicroBatches) {
    for (const char* optimizer : {"adagrad", "sgd"}) {
        for (const ClipKind kind : {ClipKind::none, ClipKind::norm, ClipKind::value}) {
            for (const char* precision : {"fp32", "amp-fp16"}) {
                SCOPED_TRACE(std::string(optimizer) + " " + precision + " " +
                             std::to_string(static_cast<int>(kind)));
                RunConfig config = small_click_run(precision, optimizer);
                config.accumulate = 2;
                config.clip = {kind, kind == ClipKind::norm ? 0.1 : 0.002};
                TrainerFixture sparse(config, default_device()), dense(config, default_device());
                dense.trainer.model().sparse_gradients = false;
                for (int i = 0; i < 6; ++i) {
                    const StepRecord a = sparse.step(i).row, b = dense.step(i).row;
                    EXPECT_EQ(a.found_inf, b.found_inf);
                    // Both sum the same squares, in another order.
                    EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-5 * std::abs(b.grad_norm));
                }
                const auto a = weights_of(sparse), b = weights_of(dense);
                for (std::size_t p = 0; p < a.size(); ++p)
                    for (std::size_t i = 0; i < a[p].size(); ++i)
                        // Entries of a row are summed before the micro-batches are, or after. That
                        // gives a few different roundings of the gradients, followed by six
                        // updates.
                        ASSERT_NEAR(a[p][i], b[p][i], 1e-4 * (1 + std::abs(b[p][i])));
            }
        }
    }
}

TEST(SparseStep, LeavesEverythingAsItWasWhereGradientsOverflow) {
    for (const char* optimizer : {"sparse-adam", "adagrad", "sgd"}) {
        SCOPED_TRACE(optimizer);
        RunConfig config = small_click_run("amp-fp16", optimizer);
        config.scaler.init_scale = 0x1p40;
        TrainerFixture fixture(config, default_device());
        const auto before = weights_of(fixture);
        EXPECT_TRUE(fixture.step(0).row.found_inf);
        EXPECT_EQ(weights_of(fixture), before);
    }
}

TEST(SparseStep, WeightDecayMomentumAndOtherOptimizersTakeDenseGradients) {
    const auto sparse = [](const std::string& kind, Options options) {
        RunConfig config = small_click_run("fp32");
        config.optimizer.kind = kind;
        config.optimizer.options = std::move(options);
        TrainerFixture fixture(config, default_device());
        EXPECT_TRUE(std::isfinite(fixture.step(0).row.loss));
        return fixture.trainer.model().sparse_gradients;
    };
    EXPECT_FALSE(sparse("adam", {}));
    EXPECT_FALSE(sparse("sgd", {})) << "momentum and decay";
    EXPECT_FALSE(sparse("adagrad", {{"weight_decay", 0.1}}));
    EXPECT_FALSE(sparse("adagrad", {{"larc", true}}));
    EXPECT_FALSE(sparse("sparse-adam", {{"larc", true}}));
    EXPECT_TRUE(sparse("adagrad", {}));
    EXPECT_TRUE(sparse("sparse-adam", {}));
}

TEST(SparseStep, NeverWaitsForTheDeviceAndIsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    for (const char* optimizer : {"sparse-adam", "adagrad", "sgd"}) {
        for (const char* precision : {"fp32", "amp-fp16"}) {
            SCOPED_TRACE(std::string(optimizer) + " " + precision);
            RunConfig config = small_click_run(precision, optimizer);
            config.clip = {ClipKind::norm, 0.1};
            TrainerFixture eager(config, cuda), recorded(config, cuda);
            eager.trainer.set_recording(false);
            for (TrainerFixture* fixture : {&eager, &recorded}) {
                for (int i = 0; i < 5; ++i) {
                    fixture->submit(i);
                    (void)fixture->trainer.take(false);
                }
                const auto before = kernels::cuda::call_counts();
                for (int i = 5; i < 9; ++i) {
                    fixture->submit(i);
                    (void)fixture->trainer.take(false);
                }
                const auto after = kernels::cuda::call_counts();
                EXPECT_EQ(after.synchronizations, before.synchronizations);
                EXPECT_EQ(after.allocations, before.allocations);
                if (fixture == &recorded) {
                    EXPECT_EQ(after.launches - before.launches, 4) << "one launch a step";
                }
                (void)fixture->trainer.take(true);
            }
            EXPECT_EQ(weights_of(recorded), weights_of(eager));
        }
    }
}

TEST(SparseStep, ComputesTheLossAndTheNormOfTheCpu) {
    HALFTONE_NEEDS_CUDA();
    TrainerFixture host(small_click_run("fp32"), Device{}), device(small_click_run("fp32"), cuda);
    for (int i = 0; i < 3; ++i) {
        const StepRecord expected = host.step(i).row, row = device.step(i).row;
        // f32 sums in another order. A step of Adam has the size of its rate whatever the gradient.
        EXPECT_NEAR(row.loss, expected.loss, 1e-4);
        EXPECT_NEAR(row.grad_norm, expected.grad_norm, 1e-3 * expected.grad_norm);
    }
}

}  // namespace
}  // namespace engine
