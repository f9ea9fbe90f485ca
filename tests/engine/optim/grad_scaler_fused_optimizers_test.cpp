#include <random>

#include "kernels/scaler.h"
#include "scaler_support.h"
#include "support/element.h"

// The scaling-aware form of every optimizer (loss-scaler.md#scaling-aware-optimizers, 2.6).

namespace engine {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>(const TensorList&, const OptimizerOptions&)>;

template <class Kind, class Options>
Make make_with(const Options& settings) {
    return [settings](const TensorList& tensors, const OptimizerOptions& options) {
        return std::make_unique<Kind>(named(tensors), settings, options);
    };
}

const std::vector<Make> every_optimizer = {
    make_with<Sgd>(SgdOptions{.lr = 0.5, .momentum = 0.9, .weight_decay = 0.1}),
    make_with<Adam>(AdamOptions{.weight_decay = 0.1}),
    make_with<Adam>(AdamOptions{.amsgrad = true}),
    make_with<Adam>(AdamOptions{.weight_decay = 0.01, .decoupled = true}),
    make_with<Adagrad>(AdagradOptions{}),
    make_with<Lamb>(LambOptions{}),
    make_with<NovoGrad>(NovoGradOptions{}),
};

TEST(FusedOptimizers, S21WithFoundInfWriteNothing) {
    for (const Make& make : every_optimizer)
        for (const bool scaled : {false, true})
            for (const bool larc : {false, true}) {
                TensorList ones;
                for (int k = 0; k < 5; ++k) ones.push_back(with_grad({1}, {1}));
                const auto optimizer = make(ones, {.scaling_aware = true, .larc = {.on = larc}});
                optimizer->found_inf = Tensor::full({}, 1, DType::f32);
                if (scaled) optimizer->grad_scale = Tensor::full({}, 4, DType::f32);
                optimizer->step();
                EXPECT_EQ(optimizer->steps(), 0);
                for (std::size_t k = 0; k < ones.size(); ++k) {
                    EXPECT_EQ(ones[k].item(), 1);
                    EXPECT_EQ(ones[k].grad().item(), 1);
                    for (const auto& [name, state] : optimizer->state(k))
                        EXPECT_EQ(state.item(), 0) << name;
                }
                // The next good update is the first.
                optimizer->found_inf = {};
                optimizer->step();
                EXPECT_EQ(optimizer->steps(), 1);
                EXPECT_LT(ones[0].item(), 1);
            }
}

/// 100 iterations with gradients that f16 represents exactly. Every ninth has an infinity.
std::vector<double> trained(const Make& make, DType type, const OptimizerOptions& options) {
    std::mt19937 random(5);
    std::uniform_int_distribution<int> grid(-128, 127);
    const auto draw = [&](double factor) {
        std::vector<double> values(1000);
        for (double& value : values) value = factor * grid(random) / 128;
        return values;
    };
    const Tensor weight = leaf(draw(1), {1000}, type);
    const auto optimizer = make({weight}, options);
    GradScaler scaler = ready_scaler({.init_scale = 128, .growth_interval = 7});
    for (int i = 0; i < 100; ++i) {
        weight.set_grad(Tensor::of(draw(scaler.loss_scale()), {1000}, type));
        if (i % 9 == 4) set_element(weight.grad(), 500, infinity);
        scaler.step(*optimizer);
        scaler.update();
    }
    EXPECT_EQ(optimizer->steps(), 100 - 11);
    return (options.master_weights ? optimizer->master(0) : weight).values();
}

TEST(FusedOptimizers, X11WithScalerAndMastersTrainAsThePlainFormDoes) {
    for (const Make& make : every_optimizer) {
        const auto plain = trained(make, DType::f32, {});
        const auto fused = trained(make, DType::f32, {.scaling_aware = true});
        const auto masters =
            trained(make, DType::f16, {.scaling_aware = true, .master_weights = true});
        for (std::size_t i = 0; i < plain.size(); ++i) {
            // The scale is a power of two, so the bits are the same.
            ASSERT_EQ(fused[i], plain[i]);
            ASSERT_EQ(masters[i], plain[i]);
        }
    }
}

}  // namespace
}  // namespace engine
