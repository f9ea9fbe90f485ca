#pragma once

#include "models/model.h"
#include "nn/transformer.h"

namespace engine {

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
    OnnxValues export_graph(OnnxGraph& graph, const OnnxValues& inputs) const override;
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
    OnnxValue graph(OnnxGraph& graph, const Block& block, const TokenGraph& tokens,
                    const OnnxValue& x) const;

    Sizes sizes_;
    ModuleName transformer_, lm_head_;
    Embedding wte_, wpe_;
    Dropout drop_;
    std::vector<Block> blocks_;
    LayerNorm ln_f_;
};

}  // namespace engine
