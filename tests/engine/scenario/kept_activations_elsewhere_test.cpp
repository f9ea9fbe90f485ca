#include <gtest/gtest.h>

#include <functional>

#include "amp/autocast.h"
#include "models/convnet_support.h"
#include "tensor/memory/memory.h"

// The memory that the other models keep for the backward pass: 16 bits of mixed precision against
// fp32. (Convolutional networks: kept_activations_test; transformers: transformer_memory_test.)
namespace engine::test {
namespace {

constexpr std::int64_t rows = 8;

std::unique_ptr<Model> made(const char* kind, const Options& options, const ModelShape& shape) {
    ModelConfig config;
    config.kind = kind;
    config.options = options;
    return make_model(config, shape, 1, Device{});
}

/// Bytes accounted as activations after a forward pass. Inputs are not included.
double bytes_kept_by(const std::function<Tensor()>& forward, std::optional<DType> low) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    const AutocastRegion region(Device::Kind::cpu, low.has_value(), low);
    const auto entered = region.enter();
    const Tensor output = forward();
    EXPECT_TRUE(output.requires_grad());
    return static_cast<double>(accounting->bytes(MemoryUse::activations));
}

/// Expects half the bytes in 16 bits, except for `staying` bytes, which stay f32, and `copies`,
/// 16-bit copies of f32 inputs.
void expect_kept(const std::function<Tensor()>& forward, double staying, double copies) {
    const double wide = bytes_kept_by(forward, {});
    for (const DType low : {DType::f16, DType::bf16}) {
        const double found = bytes_kept_by(forward, low);
        testing::Test::RecordProperty(std::string(name(low)), std::to_string(found / wide));
        // Blocks are rounded up to cache lines.
        EXPECT_NEAR(found, (wide + staying) / 2 + copies, 1024) << name(low) << " of " << wide;
    }
}

TEST(KeptActivationsElsewhere, AutoencoderKeepsACopyOfTheImage) {
    const auto model = made("autoencoder", {}, pictures({3, 32, 32}, 1));
    const Tensor image = made_pictures({rows, 3, 32, 32});
    expect_kept([&] { return model->forward({image}).front(); }, 0, rows * 3 * 32 * 32 * 2);
}

TEST(KeptActivationsElsewhere, DcganKeepsAllInTheLowType) {
    const auto made_pair = made_dcgan({3, 32, 32}, 100, 16);
    auto& pair = dynamic_cast<AdversarialModel&>(*made_pair);
    const Tensor latent = made_pictures({rows, 100});
    // For each batch norm: mean and standard deviation in f32.
    const double statistics = 2 * 4 * (64 + 32 + 16);
    expect_kept([&] { return pair.generate(latent); }, statistics, rows * 100 * 2);
}

TEST(KeptActivationsElsewhere, LanguageModelKeepsACopyOfItsCarriedState) {
    constexpr std::int64_t window = 16, words = 96, width = 64;
    const FieldSpec tokens{.name = "tokens",
                           .kind = FieldKind::tokens,
                           .dtype = DType::i64,
                           .shape = {window},
                           .cardinality = words,
                           .windowed = true};
    const Options options{{"embedding", width}, {"hidden", width}, {"dropout", 0.0}};
    const auto model = made("rnn-lm", options, {{tokens}, words});
    TensorList inputs{Tensor::zeros({rows, window}, DType::i64, Device{})};
    double states = 0;
    for (const Shape& shape : model->state_shapes(rows)) {
        inputs.push_back(Tensor::zeros(shape, DType::f32, Device{}));
        states += static_cast<double>(shape.numel());
    }
    expect_kept([&] { return model->forward(inputs).front(); }, 0, states * 2);
}

TEST(KeptActivationsElsewhere, DlrmKeepsItsEmbeddingsAndIdsAsTheyAre) {
    constexpr std::int64_t batch = 64, numbers = 13, tables = 4, width = 16;
    const FieldSpec dense{.name = "dense", .kind = FieldKind::features, .shape = {numbers}};
    const FieldSpec ids{.name = "ids",
                        .kind = FieldKind::indices,
                        .dtype = DType::i64,
                        .shape = {tables},
                        .cardinality = 50};
    const auto model = made("dlrm", {{"embedding", width}}, {{dense, ids}, 1});
    const TensorList inputs{Tensor::zeros({batch, numbers}, DType::f32, Device{}),
                            Tensor::zeros({batch, tables}, DType::i64, Device{})};
    const double staying = batch * ((tables + 1) * width * 4 + tables * 8);
    expect_kept([&] { return model->forward(inputs).front(); }, staying, batch * numbers * 2);
}

}  // namespace
}  // namespace engine::test
