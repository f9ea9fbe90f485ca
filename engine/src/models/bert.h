#pragma once

#include "models/model.h"
#include "nn/transformer.h"

namespace engine {

/// Masked language model: BERT with the names, shapes and initial weights of transformers'
/// BertForMaskedLM. Embeddings of words, positions and segments, blocks with the norms behind
/// attention and feed-forward layers, a transform, and an output layer whose weight is the words'
/// table. A window is plain text: its segment is 0, and nothing is padding. gelu by erf.
class Bert final : public Model {
public:
    struct Sizes {
        std::int64_t words = 0, layers = 4, width = 256, heads = 4, feed_forward = 1024;
        std::int64_t context = 35;  ///< positions
        double dropout = 0.1;  ///< of embeddings, of attention's weights, and behind linear layers
    };
    Bert(const Sizes& sizes, std::optional<std::int64_t> seed, const Device& device);

    /// {tokens (samples, window)} -> {logits (samples * window, words), sample after sample}. With
    /// {tokens, places (samples, n)}, those of the tokens at these places of each sample alone:
    /// (samples * n, words). Throws Error(shape) for a window of more than `context` tokens.
    TensorList forward(const TensorList& inputs) override;
    OnnxValues export_graph(OnnxGraph& graph, const OnnxValues& inputs) const override;
    std::int64_t context() const override { return sizes_.context; }

private:
    struct Embeddings {
        ModuleName module;
        Embedding words, positions, segments;
        LayerNorm norm;
        Dropout dropout;
    };
    /// A linear layer whose result is added to what went in, and normalised.
    struct Residual {
        ModuleName module;
        Linear dense;
        LayerNorm norm;
        Dropout dropout;
        Residual() = default;
        Residual(TensorRegistry& registry, const std::string& name, std::int64_t in,
                 const Sizes& sizes);
        Tensor operator()(const Tensor& x, const Tensor& around, DropoutDraws& draws) const;
        OnnxValue graph(OnnxGraph& graph, const OnnxValue& x, const OnnxValue& around) const;
    };
    struct Block {
        ModuleName name, attention, self, intermediate;
        Linear query, key, value;
        AttentionHeads heads;
        Residual attended;
        Linear expand;
        Residual output;
    };
    struct Head {
        ModuleName module, transform_module, decoder;
        Tensor bias;
        Linear transform;
        LayerNorm norm;
    };
    Block make_block(std::int64_t index);
    DropoutDraws draws(std::int64_t count) const;
    Tensor embed(const Tensor& tokens, DropoutDraws draws) const;
    Tensor attend(const Block& block, const Tensor& x, const TokenRows& of,
                  DropoutDraws& draws) const;
    Tensor run(const Block& block, const Tensor& x, const TokenRows& of, DropoutDraws draws) const;
    Tensor decode(const Tensor& hidden) const;
    OnnxValue embed(OnnxGraph& graph, const TokenGraph& tokens, const OnnxValue& ids) const;
    OnnxValue run(OnnxGraph& graph, const Block& block, const TokenGraph& tokens,
                  const OnnxValue& x) const;

    Sizes sizes_;
    ModuleName bert_, encoder_;
    Embeddings embeddings_;
    std::vector<Block> blocks_;
    Head head_;
};

}  // namespace engine
