#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linear_reference.h"
#include "step_support.h"

// Clipping with several optimizers: each clips its own unscaled gradients, whatever the scale of
// the loss. Compared with the same steps in double.
namespace engine {
namespace {

using test::expect_near;
using test::LinearReference;
using test::mixed;
using test::mse_slope;
using test::pair_run;
using test::PairModel;
using test::Rows;
using test::rows_of;
using test::TwoLosses;

struct ClipCase {
    ScalerMode scaler;
    ClipConfig clip;
    std::int64_t accumulate;
};

class ClippedOptimizers : public testing::TestWithParam<ClipCase> {
protected:
    static RunConfig settings() {
        RunConfig config = pair_run("fp32", GetParam().accumulate);
        config.precision.scaler = GetParam().scaler;
        config.clip = GetParam().clip;
        return config;
    }
};

/// Adds the gradients of TwoLosses for these batches.
void add_gradients(LinearReference& first, LinearReference& second,
                   std::span<const Batch> batches) {
    const double share = 1.0 / static_cast<double>(batches.size());
    for (const Batch& batch : batches) {
        const Rows x = rows_of(batch, 0), target = rows_of(batch, 1);
        const Rows o0 = first.outputs(x), o1 = second.outputs(x);
        const Rows one = mse_slope(mixed(o0, 0.3, o1, 0.7), target);
        const Rows two = mse_slope(mixed(o0, 0.6, o1, -0.4), target);
        first.add_gradient(x, mixed(one, 0.3, two, 0.6), share);
        second.add_gradient(x, mixed(one, 0.7, two, -0.4), share);
    }
}

/// In every step some gradients must be clipped and others not.
void expect_clipping(const LinearReference& layer, const ClipConfig& clip) {
    if (clip.kind == ClipKind::norm) {
        EXPECT_GT(layer.gradient_norm(), clip.value);
    }
    if (clip.kind == ClipKind::value) {
        EXPECT_GT(layer.count_beyond(clip.value), 0);
        EXPECT_LT(layer.count_beyond(clip.value), test::pair_width * (test::pair_width + 1));
    }
}

TEST_P(ClippedOptimizers, EachClipsItsOwnUnscaledGradients) {
    const RunConfig config = settings();
    const auto fixture =
        test::pair_fixture(config, default_device(), std::make_unique<TwoLosses>());
    const auto& model = dynamic_cast<const PairModel&>(*fixture->model);
    LinearReference first(model.first), second(model.second);
    for (int i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        first.zero_grad();
        second.zero_grad();
        add_gradients(first, second, fixture->make(i));
        const double by_norm = std::hypot(first.gradient_norm(), second.gradient_norm());
        const auto figures = fixture->compute();
        for (LinearReference* layer : {&first, &second}) {
            expect_clipping(*layer, config.clip);
            layer->update(config.clip, config.optimizer);
        }
        expect_near(model.first, first);
        expect_near(model.second, second);
        const bool scaled = config.precision.scaler != ScalerMode::off;
        const double scale = scaled ? static_cast<double>(figures.loss_scale) : 1;
        EXPECT_NEAR(std::sqrt(figures.gradient_statistics.sum_squares) / scale, by_norm,
                    1e-5 * by_norm)
            << "of all optimizers, before clipping";
        EXPECT_EQ(figures.updates, i + 1);
        EXPECT_EQ(figures.further_updates[0], i + 1);
        if (!scaled) continue;
        const bool moves = config.precision.scaler == ScalerMode::dynamic;
        EXPECT_EQ(figures.loss_scale, moves ? std::ldexp(128.0F, i) : 128.0F);
        EXPECT_EQ(figures.next_loss_scale, moves ? std::ldexp(128.0F, i + 1) : 128.0F);
    }
}

std::string clip_label(const testing::TestParamInfo<ClipCase>& of) {
    return word_of(of.param.scaler) + "_" + word_of(of.param.clip.kind) + "_" +
           std::to_string(of.param.accumulate);
}

const ClipConfig no_clip{.kind = ClipKind::none}, by_norm{.kind = ClipKind::norm, .value = 0.1},
    by_value{.kind = ClipKind::value, .value = 0.02};

INSTANTIATE_TEST_SUITE_P(Scalers, ClippedOptimizers,
                         testing::Values(ClipCase{ScalerMode::constant, no_clip, 1},
                                         ClipCase{ScalerMode::constant, by_norm, 1},
                                         ClipCase{ScalerMode::constant, by_value, 1},
                                         ClipCase{ScalerMode::constant, by_norm, 2},
                                         ClipCase{ScalerMode::constant, by_value, 2},
                                         ClipCase{ScalerMode::dynamic, by_norm, 1},
                                         ClipCase{ScalerMode::dynamic, by_value, 1},
                                         ClipCase{ScalerMode::off, by_norm, 1},
                                         ClipCase{ScalerMode::off, by_value, 1}),
                         clip_label);

}  // namespace
}  // namespace engine
