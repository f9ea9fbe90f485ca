#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "models/convnet_support.h"
#include "tensor/memory/memory.h"

// The memory that a forward pass in training keeps for the backward pass: 16 bits of mixed
// precision against fp32.
namespace engine::test {
namespace {

struct Network {
    const char* kind;
    const char* stem;
    std::int64_t side;
};

std::unique_ptr<Model> model_of(const Network& network) {
    Options options{{"stem", std::string(network.stem)}};
    if (std::string(network.kind) == "mobilenetv2") options["dropout"] = 0.0;
    return convnet(network.kind, options, {3, network.side, network.side}, 10, 1);
}

/// Bytes accounted as activations after the forward pass of four pictures.
std::int64_t kept_bytes(Model& model, std::int64_t side, std::optional<DType> low) {
    const Tensor images = made_pictures({4, 3, side, side});
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    const AutocastRegion region(Device::Kind::cpu, low.has_value(), low);
    const auto entered = region.enter();
    const Tensor logits = model.forward({images}).front();
    EXPECT_TRUE(logits.requires_grad());
    return accounting->bytes(MemoryUse::activations);
}

class KeptActivations : public testing::TestWithParam<Network> {};

TEST_P(KeptActivations, OfConvolutionalNetworksIn16BitsTakeAtMost55PerCentOfFp32s) {
    const auto model = model_of(GetParam());
    const std::int64_t side = GetParam().side;
    const auto wide = static_cast<double>(kept_bytes(*model, side, {}));
    for (const DType low : {DType::f16, DType::bf16}) {
        const double share = static_cast<double>(kept_bytes(*model, side, low)) / wide;
        RecordProperty(std::string(name(low)), std::to_string(share));
        EXPECT_LE(share, 0.55) << name(low) << " of " << wide;
        EXPECT_GE(share, 0.5) << "16 bits are half of 32";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, KeptActivations,
    testing::Values(Network{"resnet18", "cifar", 32}, Network{"resnet34", "imagenet", 64},
                    Network{"resnet50", "imagenet", 64}, Network{"resnext50", "imagenet", 64},
                    Network{"mobilenetv2", "imagenet", 64}, Network{"mobilenetv2", "cifar", 32}),
    [](const auto& of) { return std::string(of.param.kind) + "_" + of.param.stem; });

}  // namespace
}  // namespace engine::test
