#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "linear_reference.h"
#include "step_support.h"

// Three optimizers in one step, with one scaler: each layer must train as it does alone, which is
// computed in double.
namespace engine {
namespace {

using test::expect_near;
using test::LinearReference;
using test::mse_slope;
using test::numbers;
using test::pair_run;
using test::Rows;
using test::rows_of;
using test::StepFixture;

constexpr std::int64_t width = 8;

/// Three linear layers, each with its own input.
class TripleModel final : public Model {
public:
    TripleModel(std::int64_t seed, const Device& device)
        : Model(seed, device),
          layers{Linear(registry_, "a", width, width), Linear(registry_, "b", width, width),
                 Linear(registry_, "c", width, width)} {}
    TensorList forward(const TensorList& in) override {
        return {layers[0](in[0]), layers[1](in[1]), layers[2](in[2])};
    }

    std::array<Linear, 3> layers;
};

/// A loss and an optimizer for each layer. The first has its own phase; the other two share the
/// second.
class TripleTask final : public Task {
public:
    const Schema& schema(bool) const override { return schema_; }
    ModelShape model_shape() const override { return {schema_.fields, width}; }
    std::vector<std::string> optimizer_names() const override { return {"", "b", "c"}; }
    std::vector<std::vector<Parameter>> optimized(Model& model) const override {
        const auto& all = model.parameters();
        return {{all[0], all[1]}, {all[2], all[3]}, {all[4], all[5]}};
    }
    std::vector<Phase> phases() const override { return {{"a", {0}}, {"rest", {1, 2}}}; }
    TensorList losses(TaskStep& step) override {
        if (step.phase == 1) return {loss_of(step, 1), loss_of(step, 2)};
        const Tensor loss = loss_of(step, 0);
        add_loss(step, loss, step.batch.rows);
        return {loss};
    }

private:
    static Tensor loss_of(const TaskStep& step, std::size_t layer) {
        const auto& model = dynamic_cast<const TripleModel&>(step.model());
        return mse_loss(model.layers[layer](step.batch[layer]), step.batch[3]);
    }

    Schema schema_{
        {numbers("a", width), numbers("b", width), numbers("c", width), numbers("target", width)}};
};

struct Run {
    ScalerMode scaler;
    ClipKind clip;
    std::int64_t accumulate;
};

class ThreeOptimizers : public testing::TestWithParam<Run> {
protected:
    ThreeOptimizers() {
        config_.precision.scaler = GetParam().scaler;
        config_.clip = {.kind = GetParam().clip, .value = 0.1};
        fixture_ = std::make_unique<StepFixture>(config_, std::make_unique<TripleTask>(),
                                                 std::make_unique<TripleModel>(1, default_device()),
                                                 default_device());
        for (const Linear& layer : layers()) references_.emplace_back(layer);
    }
    const std::array<Linear, 3>& layers() const {
        return dynamic_cast<const TripleModel&>(*fixture_->model).layers;
    }
    /// Trains one layer alone on the fixture's batches.
    void train_alone(std::size_t layer) {
        LinearReference& reference = references_[layer];
        reference.zero_grad();
        for (const Batch& batch : fixture_->batches) {
            const Rows x = rows_of(batch, layer);
            reference.add_gradient(x, mse_slope(reference.outputs(x), rows_of(batch, 3)),
                                   1.0 / static_cast<double>(config_.accumulate));
        }
        if (config_.clip.kind == ClipKind::norm) {
            EXPECT_GT(reference.gradient_norm(), config_.clip.value);
        }
        reference.update(config_.clip, config_.optimizer);
    }
    void expect_all_near() const {
        for (std::size_t i = 0; i < 3; ++i) {
            SCOPED_TRACE(i);
            expect_near(layers()[i], references_[i]);
        }
    }

    RunConfig config_ = pair_run("fp32", GetParam().accumulate);
    std::unique_ptr<StepFixture> fixture_;
    std::vector<LinearReference> references_;
};

TEST_P(ThreeOptimizers, EachMovesAsIfItWereAlone) {
    for (int i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        fixture_->make(i);
        for (const std::size_t layer : {0u, 1u, 2u}) train_alone(layer);
        const auto figures = fixture_->compute();
        expect_all_near();
        double squares = 0;
        for (const auto& reference : references_) squares += std::pow(reference.gradient_norm(), 2);
        const bool scaled = config_.precision.scaler != ScalerMode::off;
        const double scale = scaled ? static_cast<double>(figures.loss_scale) : 1;
        EXPECT_NEAR(figures.gradient_statistics.sum_squares / (scale * scale), squares,
                    1e-5 * squares);
        EXPECT_EQ(figures.gradient_statistics.total, 3 * width * (width + 1));
        EXPECT_EQ(figures.gradient_statistics.found_inf, 0);
        EXPECT_EQ(figures.updates, i + 1);
        EXPECT_EQ(figures.further_updates[0], i + 1);
        EXPECT_EQ(figures.further_updates[1], i + 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Runs, ThreeOptimizers,
                         testing::Values(Run{ScalerMode::off, ClipKind::none, 1},
                                         Run{ScalerMode::constant, ClipKind::none, 2},
                                         Run{ScalerMode::constant, ClipKind::norm, 1},
                                         Run{ScalerMode::dynamic, ClipKind::none, 1},
                                         Run{ScalerMode::dynamic, ClipKind::norm, 2}),
                         [](const auto& of) {
                             return word_of(of.param.scaler) + "_" + word_of(of.param.clip) + "_" +
                                    std::to_string(of.param.accumulate);
                         });

class ThreeScaledOptimizers : public ThreeOptimizers {};

TEST_P(ThreeScaledOptimizers, OneOverflowSkipsItsOwnOptimizerAndMovesTheScaleOnce) {
    std::array<std::int64_t, 3> updates{};
    float scale = 128;
    std::int64_t step = 0;
    // The layer whose input overflows in each step; 3: none.
    for (const std::size_t bad : {3u, 0u, 2u, 1u, 3u}) {
        SCOPED_TRACE(bad);
        fixture_->make(step++);
        if (bad < 3)
            test::fill_field(fixture_->batches.back(), bad, std::numeric_limits<float>::infinity());
        for (const std::size_t layer : {0u, 1u, 2u}) {
            if (layer == bad) continue;
            train_alone(layer);
            ++updates[layer];
        }
        const auto figures = fixture_->compute();
        expect_all_near();
        EXPECT_EQ(figures.gradient_statistics.found_inf != 0, bad < 3) << "of any optimizer";
        EXPECT_EQ(figures.updates, updates[0]);
        EXPECT_EQ(figures.further_updates[0], updates[1]);
        EXPECT_EQ(figures.further_updates[1], updates[2]);
        EXPECT_EQ(figures.loss_scale, scale);
        scale *= bad < 3 ? 0.5F : 2;
        EXPECT_EQ(figures.next_loss_scale, scale);
    }
    for (const std::size_t i : {0u, 1u, 2u}) EXPECT_EQ(fixture_->step->update().optimizers()[i]->steps(), 4);
}

INSTANTIATE_TEST_SUITE_P(Runs, ThreeScaledOptimizers,
                         testing::Values(Run{ScalerMode::dynamic, ClipKind::none, 1},
                                         Run{ScalerMode::dynamic, ClipKind::norm, 1},
                                         Run{ScalerMode::dynamic, ClipKind::none, 2}),
                         [](const auto& of) {
                             return word_of(of.param.clip) + "_" +
                                    std::to_string(of.param.accumulate);
                         });

}  // namespace
}  // namespace engine
