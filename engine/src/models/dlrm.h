#pragma once

#include <vector>

#include "models/model.h"

namespace engine {

/// Deep learning recommendation model (Naumov et al. 2019) with the interaction by dot products:
/// numbers go through the bottom network, ids through tables of embeddings, and the products of all
/// pairs of those vectors, behind the bottom network's own, through the top network. Names and
/// initial weights as in PyTorch's reference implementation: `emb_l.T`, `bot_l.2i`, `top_l.2i`. Its
/// last sigmoid is not here but in the loss, which takes logits.
class Dlrm final : public Model {
public:
    struct Sizes {
        std::int64_t numbers = 0;           ///< dense features
        std::int64_t tables = 0, rows = 0;  ///< tables, and rows of each
        std::int64_t embedding = 16;  ///< width of the tables, and of the bottom network's output
        std::vector<std::int64_t> bottom, top;  ///< hidden layers
    };
    Dlrm(const Sizes& sizes, std::optional<std::int64_t> seed, const Device& device);

    /// {numbers (B, F), ids (B, T), i64} -> {logits (B, 1)}.
    TensorList forward(const TensorList& inputs) override;
    OnnxValues export_graph(OnnxGraph& graph, const OnnxValues& inputs) const override;

private:
    Tensor side_by_side(const Tensor& x, const Tensor& ids) const;
    Tensor interact(const Tensor& x, const Tensor& ids) const;

    std::int64_t width_;
    std::vector<ModuleName> table_names_;
    TensorList tables_;
    std::vector<Linear> bottom_, top_;
    std::vector<std::int64_t> pairs_;  ///< places of the pairs in a row-major (T + 1, T + 1)
    Tensor pair_index_;                ///< the same on the device, i64
    Tensor index_pair_;                ///< of each place the number of its pair, or -1
};

}  // namespace engine
