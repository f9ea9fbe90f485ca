#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "models/model.h"
#include "ops/loss/cross_entropy.h"
#include "tensor/memory/memory.h"

// The memory that a forward pass keeps for the backward pass, in 16 bits against FP32.
namespace engine {
namespace {

struct Kept {
    std::int64_t width = 64, layers = 2, heads = 4, tokens = 32, samples = 8, words = 96;
    std::string kind;

    std::int64_t rows() const { return samples * tokens; }

    /// Bytes of activations that are alive between the passes.
    std::int64_t bytes(bool low) const {
        const auto accounting = std::make_shared<MemoryAccounting>();
        const AccountingScope scope(accounting);
        ModelConfig config;
        config.kind = kind;
        config.options = {{"layers", layers}, {"width", width}, {"heads", heads}, {"dropout", 0.0}};
        const FieldSpec input{.name = "tokens",
                              .kind = FieldKind::tokens,
                              .dtype = DType::i64,
                              .shape = {tokens},
                              .cardinality = words,
                              .windowed = true};
        const auto model = make_model(config, {{input}, words}, 1, Device{});
        const Tensor ids = Tensor::zeros({samples, tokens}, DType::i64, Device{});
        const Tensor target = Tensor::zeros({rows()}, DType::i64, Device{});
        const std::int64_t before = accounting->bytes(MemoryUse::activations);
        const AutocastRegion region(Device::Kind::cpu, low, DType::bf16);
        const auto entered = region.enter();
        const Tensor loss = cross_entropy(model->forward({ids}).front(), target);
        return accounting->bytes(MemoryUse::activations) - before;
    }
};

/// Bytes of f32 tensors that stay f32 under autocast.
std::int64_t staying(const Kept& of) {
    // For a norm: input, mean and rstd. For the loss: each row's maximum and the logarithm of its
    // sum.
    const std::int64_t stream = 4 * of.width, statistics = 8;
    std::int64_t each = 2 * (stream + statistics);
    std::int64_t rest = stream + 2 * statistics;  // the first or last norm, and the loss
    if (of.kind == "bert") {
        each += 2 * stream;           // x is cast for query, key and value: two more 16-bit copies
        rest += stream + statistics;  // the norm of its transform
    }
    return of.rows() * (of.layers * each + rest);
}

// Everything else is half as large: inputs of linear layers, queries, keys and values, gelu's
// input, logits. Attention weights are recomputed in the backward pass.
TEST(TransformerMemory, In16BitsInputsOfNormsAndStatisticsStayF32) {
    for (const char* kind : {"transformer-lm", "bert"}) {
        for (const std::int64_t tokens : {32, 64}) {
            SCOPED_TRACE(kind);
            Kept kept;
            kept.kind = kind;
            kept.tokens = tokens;
            const std::int64_t wide = kept.bytes(false), low = kept.bytes(true);
            // Blocks are rounded up to cache lines, and the loss is one block.
            EXPECT_NEAR(static_cast<double>(low), static_cast<double>(wide + staying(kept)) / 2,
                        1024);
            EXPECT_LT(low, wide * 3 / 4);
        }
    }
}

}  // namespace
}  // namespace engine
