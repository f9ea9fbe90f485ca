#pragma once

#include "models/model.h"
#include "nn/recurrent.h"

namespace engine {

/// Word or character language model: embedding, dropout, recurrent layers, dropout, decoder. Names,
/// initial weights and order of operations as in PyTorch's word language model example: `encoder`,
/// `rnn`, `decoder`; encoder and decoder U(-0.1, 0.1), the decoder's bias 0. Tied, the decoder's
/// weight is the encoder's, and `decoder.bias` stands alone.
class RnnLanguageModel final : public Model {
public:
    struct Sizes {
        RecurrentKind cell = RecurrentKind::lstm;
        std::int64_t words = 0, embedding = 200, hidden = 200, layers = 2;
        double dropout = 0.2;
        bool tied = false;
    };
    /// Throws Error(settings) if tied with an embedding and a hidden layer of different sizes.
    RnnLanguageModel(const Sizes& sizes, std::optional<std::int64_t> seed, const Device& device);

    /// {tokens (streams, window), h (layers, streams, hidden), and c for lstm} -> {logits (window *
    /// streams, words), step after step, and the new state}.
    TensorList forward(const TensorList& inputs) override;
    OnnxValues export_graph(OnnxGraph& graph, const OnnxValues& inputs) const override;
    std::vector<Shape> state_shapes(std::int64_t streams) const override;

private:
    Tensor drop(const Tensor& x) const;
    Tensor decode(const Tensor& hidden) const;

    Sizes sizes_;
    Embedding encoder_;
    Recurrent rnn_;
    ModuleName drop_, decoder_;
    Tensor decoder_weight_, decoder_bias_;
};

}  // namespace engine
