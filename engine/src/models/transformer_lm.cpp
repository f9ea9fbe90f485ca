#include <cmath>

#include "engine/base/error.h"
#include "models/model.h"
#include "models/shared_options.h"
#include "nn/transformer.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// Decoder-only language model: GPT-2 with the names, shapes and initial weights of transformers'
/// GPT2LMHeadModel. Embeddings of words and positions, blocks with the norms before attention and
/// feed-forward layers, a last norm; the output layer's weight is the words' table. Linear layers
/// in the blocks have (in, out) weights; the activation is gelu by tanh (gelu_new), as one op.
class TransformerLanguageModel final : public Model {
public:
    struct Sizes {
        std::int64_t words = 0, layers = 2, width = 128, heads = 4, feed_forward = 512;
        std::int64_t context = 35;  ///< positions
        double dropout = 0.1;  ///< of embeddings, of attention's weights, and of each block's sums
    };
    TransformerLanguageModel(const Sizes& sizes, std::optional<std::int64_t> seed,
                             const Device& device);

    /// {tokens (streams, window)} -> {logits (streams * window, words), stream after stream}.
    /// Throws Error(shape) for a window of more than `context` tokens.
    TensorList forward(const TensorList& inputs) override;
    std::int64_t context() const override { return sizes_.context; }

private:
    struct Block {
        ModuleName name, attention, mlp, activation;
        LayerNorm ln_1, ln_2;
        Conv1D c_attn, attn_proj, c_fc, mlp_proj;
        AttentionHeads heads;
        Dropout attn_drop, mlp_drop;
    };
    /// The stream that blocks read and add to; `normed`: its next norm, if the sum computed that
    /// too.
    struct Stream {
        Tensor h, normed;
    };
    Block make_block(std::int64_t index);
    Tensor embed(const Tensor& tokens, DropoutDraws draws) const;
    DropoutDraws draws(std::int64_t count) const;
    Tensor attend(const Block& block, const Tensor& x, const TokenRows& of,
                  DropoutDraws& draws) const;
    Tensor feed_forward(const Block& block, const Tensor& x, DropoutDraws& draws) const;
    /// Through one block, and through `next`, the norm that follows, unless it is null.
    Stream run(const Block& block, const Stream& in, const TokenRows& of, DropoutDraws draws,
               const LayerNorm* next) const;
    Tensor run_blocks(const Tensor& x, const TokenRows& of) const;

    Sizes sizes_;
    ModuleName transformer_, lm_head_;
    Embedding wte_, wpe_;
    Dropout drop_;
    std::vector<Block> blocks_;
    LayerNorm ln_f_;
};

// GPT-2's deviation; layers whose results are added to the residual have a smaller one, by their
// number.
constexpr double deviation = 0.02;
constexpr double eps = 1e-5;

TransformerLanguageModel::TransformerLanguageModel(const Sizes& sizes,
                                                   std::optional<std::int64_t> seed,
                                                   const Device& device)
    : Model(seed, device),
      sizes_(sizes),
      transformer_("transformer"),
      lm_head_("lm_head"),
      drop_("transformer.drop", sizes.dropout) {
    wte_ = Embedding::normal(registry_, "transformer.wte", sizes.words, sizes.width, deviation,
                             /*shared=*/true);
    wpe_ = Embedding::normal(registry_, "transformer.wpe", sizes.context, sizes.width, deviation);
    for (std::int64_t i = 0; i < sizes.layers; ++i) blocks_.push_back(make_block(i));
    ln_f_ = LayerNorm(registry_, "transformer.ln_f", sizes.width, eps);
    registry_.alias("lm_head.weight", "transformer.wte.weight");
}

TransformerLanguageModel::Block TransformerLanguageModel::make_block(std::int64_t index) {
    const std::string name = "transformer.h." + std::to_string(index);
    const std::string attn = name + ".attn", mlp = name + ".mlp";
    const std::int64_t width = sizes_.width;
    const double of_residual = deviation / std::sqrt(2 * static_cast<double>(sizes_.layers));
    Block block;
    block.name = ModuleName(name);
    block.attention = ModuleName(attn);
    block.mlp = ModuleName(mlp);
    block.activation = ModuleName(mlp + ".act");
    block.ln_1 = LayerNorm(registry_, name + ".ln_1", width, eps);
    block.c_attn = Conv1D(registry_, attn + ".c_attn", width, 3 * width, deviation);
    block.attn_proj = Conv1D(registry_, attn + ".c_proj", width, width, of_residual);
    block.ln_2 = LayerNorm(registry_, name + ".ln_2", width, eps);
    block.c_fc = Conv1D(registry_, mlp + ".c_fc", width, sizes_.feed_forward, deviation);
    block.mlp_proj = Conv1D(registry_, mlp + ".c_proj", sizes_.feed_forward, width, of_residual);
    block.heads = {sizes_.heads, true, Dropout(attn + ".attn_dropout", sizes_.dropout)};
    block.attn_drop = Dropout(attn + ".resid_dropout", sizes_.dropout);
    block.mlp_drop = Dropout(mlp + ".dropout", sizes_.dropout);
    return block;
}

DropoutDraws TransformerLanguageModel::draws(std::int64_t count) const {
    if (!training || sizes_.dropout == 0) return {};
    return {*random, count};
}

Tensor TransformerLanguageModel::embed(const Tensor& tokens, DropoutDraws draws) const {
    const Tensor words = wte_(tokens);
    Tensor positions;
    {
        const ModuleScope opened(wpe_.module);
        positions = narrow(wpe_.weight, 0, 0, tokens.size(1));
    }
    return drop_(reshape(add(words, positions), {tokens.numel(), sizes_.width}), draws);
}

Tensor TransformerLanguageModel::attend(const Block& block, const Tensor& x, const TokenRows& of,
                                        DropoutDraws& draws) const {
    const ModuleScope opened(block.attention);
    const Tensor all = block.c_attn(x);
    const auto part = [&](std::int64_t k) {
        return narrow(all, 1, k * sizes_.width, sizes_.width);
    };
    const Tensor y = block.heads(part(0), part(1), part(2), of, draws);
    return block.attn_drop(block.attn_proj(y), draws);
}

Tensor TransformerLanguageModel::feed_forward(const Block& block, const Tensor& x,
                                              DropoutDraws& draws) const {
    const ModuleScope opened(block.mlp);
    Tensor h = block.c_fc(x);
    {
        const ModuleScope activation(block.activation);
        h = gelu_tanh(h);
    }
    return block.mlp_drop(block.mlp_proj(h), draws);
}

TransformerLanguageModel::Stream TransformerLanguageModel::run(const Block& block, const Stream& in,
                                                               const TokenRows& of,
                                                               DropoutDraws draws,
                                                               const LayerNorm* next) const {
    const Tensor x = in.normed.defined() ? in.normed : block.ln_1(in.h);
    const SumAndNorm attended = block.ln_2.of_sum(attend(block, x, of, draws), in.h);
    const Tensor y = feed_forward(block, attended.normed, draws);
    if (next == nullptr) return {add(y, attended.sum), Tensor()};
    const SumAndNorm out = next->of_sum(y, attended.sum);
    return {out.sum, out.normed};
}

Tensor TransformerLanguageModel::run_blocks(const Tensor& x, const TokenRows& of) const {
    // A block that is recomputed ends with its sum, and observers see each norm in its own block.
    const bool recomputed = recompute_blocks && training;
    const bool joined = !recomputed && LayerNorm::may_join_sum();
    const std::int64_t width = of.rows() * sizes_.width;
    Stream stream{x, Tensor()};
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const Block& each = blocks_[i];
        const DropoutDraws numbers = draws(each.heads.draws(of) + 2 * width);
        if (joined) {
            const ModuleScope opened(each.name);
            const LayerNorm& next = i + 1 < blocks_.size() ? blocks_[i + 1].ln_1 : ln_f_;
            stream = run(each, stream, of, numbers, &next);
        } else {
            stream.h = block(each.name, stream.h, [this, &each, of, numbers](const Tensor& h) {
                return run(each, {h, Tensor()}, of, numbers, nullptr).h;
            });
        }
    }
    return stream.normed.defined() ? stream.normed : ln_f_(stream.h);
}

TensorList TransformerLanguageModel::forward(const TensorList& inputs) {
    const Tensor& tokens = inputs[0];
    const TokenRows of{tokens.size(0), tokens.size(1)};
    if (of.tokens > sizes_.context) {
        throw Error(ErrorCode::shape, "transformer-lm: a window of " + std::to_string(of.tokens) +
                                          " tokens is longer than the model's " +
                                          std::to_string(sizes_.context));
    }
    Tensor h;
    {
        const ModuleScope opened(transformer_);
        h = embed(tokens, draws(of.rows() * sizes_.width));
        h = run_blocks(h, of);
    }
    const ModuleScope opened(lm_head_);
    return {linear(h, wte_.weight)};
}

}  // namespace

ModelDescriptor transformer_lm_descriptor() {
    return {.kind = "transformer-lm",
            .title = "Transformer language model",
            .summary = "GPT-2: attention over the tokens of a window predicts the next one.",
            .inputs = {FieldKind::tokens},
            .output = ModelOutput::token_scores,
            .options = transformer_options({.layers = 2, .width = 128, .heads = 4}),
            .has_blocks = true,
            .benchmark = {.batch = 16, .chosen = true},
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                const TransformerSizes sizes = transformer_sizes(setup);
                return std::make_unique<TransformerLanguageModel>(
                    TransformerLanguageModel::Sizes{setup.shape.outputs, sizes.layers, sizes.width,
                                                    sizes.heads, sizes.feed_forward, sizes.context,
                                                    sizes.dropout},
                    setup.seed, setup.device);
            }};
}

}  // namespace engine
