#include <gmock/gmock.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "ops/loss/cross_entropy.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "scaler_support.h"
#include "small_net.h"
#include "support/here.h"
#include "support/opt_level.h"
#include "tensor/cast.h"

// How an opt level converts a model, and that the model trains (X4, X5).

namespace engine {
namespace {

DType dtype_of(const Model& model, const std::string& name) {
    for (const auto* list : {&model.parameters(), &model.buffers()})
        for (const auto& entry : *list)
            if (entry.name == name) return entry.tensor.dtype();
    throw std::out_of_range(name);
}

TEST(OptLevelTraining, X4ConversionKeepsAffineBatchNormInF32) {
    SmallNet net;
    convert(net, resolve_opt_level("O2").properties);
    for (const char* name : {"norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"})
        EXPECT_EQ(dtype_of(net, name), DType::f32) << name;
    for (const char* name :
         {"conv.weight", "conv.bias", "fc.weight", "plain.running_mean", "plain.running_var"})
        EXPECT_EQ(dtype_of(net, name), DType::f16) << name;
    EXPECT_EQ(dtype_of(net, "norm.num_batches_tracked"), DType::i64);
    EXPECT_EQ(dtype_of(net, "plain.num_batches_tracked"), DType::i64);
    const Tensor x = Tensor::full({2, 3, 6, 6}, 0.5, DType::f16);
    EXPECT_EQ(net.forward(x).dtype(), DType::f16);

    SmallNet all;
    convert(all, resolve_opt_level("O3").properties);
    EXPECT_EQ(dtype_of(all, "norm.weight"), DType::f16);
    EXPECT_EQ(dtype_of(all, "norm.running_var"), DType::f16);
}

TEST(OptLevelTraining, X4TheLossFallsAndSavedStateHoldsNoF16) {
    for (const char* name : {"O0", "O1", "O2"}) {
        const OptProperties level = resolve_opt_level(name).properties;
        SmallNet net;
        convert(net, level);
        Sgd sgd(net.parameters(), {.lr = 0.05, .momentum = 0.9},
                {.scaling_aware = true, .master_weights = level.master_weights.value_or(false)});
        ScalerOptions options = apex_scaler({});
        options.enabled = !level.loss_scale.has_value();
        GradScaler scaler(options);
        std::mt19937 random(3);
        const std::vector<ImageBatch> batches = {batch_of(random), batch_of(random),
                                                 batch_of(random)};
        std::vector<double> losses;
        for (int epoch = 0; epoch < 10; ++epoch) {
            double sum = 0;
            for (const ImageBatch& batch : batches) {
                sgd.zero_grad();
                Tensor loss;
                {
                    const AutocastRegion region(here, level.patch_functions, DType::f16);
                    const auto entered = region.enter();
                    const Tensor x = level.cast_model_type
                                         ? to(batch.images, *level.cast_model_type)
                                         : batch.images;
                    loss = cross_entropy(to(net.forward(x), DType::f32), batch.labels);
                }
                sum += loss.item();
                backward(scaler.scale(loss));
                scaler.step(sgd);
                scaler.update();
            }
            losses.push_back(sum);
        }
        EXPECT_LT(losses.back(), 0.5 * losses.front()) << name;
        for (const auto& [entry, tensor] : saved_state(net)) {
            EXPECT_NE(tensor.dtype(), DType::f16) << entry;
            EXPECT_NE(tensor.dtype(), DType::bf16) << entry;
        }
    }
}

TEST(OptLevelTraining, X5ThreeLossesThatOverflowHaveScalesOfTheirOwn) {
    // Loss k overflows k times, so the scales are init, init / 2 and init / 4. All counters are 0.
    const Tensor weight = leaf({1, 1}, {2}, DType::f16);
    std::vector<GradScaler> scalers;
    for (int k = 0; k < 3; ++k) scalers.emplace_back(apex_scaler({}));
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < k; ++i) {
            Sgd sgd(named({weight}), {.lr = 0}, {.scaling_aware = true});
            weight.set_grad({});
            const Tensor x = Tensor::full({2}, 0x1p17, DType::f32);
            backward(scalers[static_cast<std::size_t>(k)].scale(sum(mul(weight, x))));
            scalers[static_cast<std::size_t>(k)].step(sgd);
            scalers[static_cast<std::size_t>(k)].update();
        }
    }
    for (int k = 0; k < 3; ++k) {
        const GradScaler& scaler = scalers[static_cast<std::size_t>(k)];
        EXPECT_EQ(scaler.loss_scale(), std::ldexp(65536.0, -k));
        EXPECT_EQ(scaler.growth_tracker(), 0);
    }
}

}  // namespace
}  // namespace engine
