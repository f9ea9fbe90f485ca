#include <cmath>
#include <vector>

#include "autograd/shown_parts.h"
#include "engine/base/error.h"
#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/layers.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/embedding_bag_group.h"
#include "ops/index/gather.h"
#include "ops/linalg/matmul.h"
#include "ops/shape/view.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

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

private:
    Tensor side_by_side(const Tensor& x, const Tensor& ids) const;
    Tensor interact(const Tensor& x, const Tensor& ids) const;

    std::int64_t width_;
    std::vector<ModuleName> table_names_;
    TensorList tables_;
    std::vector<Linear> bottom_, top_;
    Tensor pair_index_;  ///< places of the pairs in a row-major (T + 1, T + 1), i64
    Tensor index_pair_;  ///< of each place the number of its pair, or -1
};

/// Layers with ReLU between them, numbered as in PyTorch's Sequential, where every second module is
/// an activation. Weights are drawn from N(0, 2 / (in + out)), biases from N(0, 1 / out).
std::vector<Linear> network(TensorRegistry& registry, const std::string& name,
                            const std::vector<std::int64_t>& sizes) {
    std::vector<Linear> layers;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        const std::int64_t in = sizes[i], out = sizes[i + 1];
        Linear layer;
        const std::string module = name + "." + std::to_string(2 * i);
        layer.module = ModuleName(module);
        layer.weight = registry.normal(module + ".weight", {out, in},
                                       std::sqrt(2 / static_cast<double>(in + out)), true);
        layer.bias =
            registry.normal(module + ".bias", {out}, std::sqrt(1 / static_cast<double>(out)), true);
        layers.push_back(std::move(layer));
    }
    return layers;
}

/// Pairs (i, j), j < i, row by row, of the vectors of a sample.
std::vector<std::int64_t> make_pairs(std::int64_t vectors) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < vectors; ++i)
        for (std::int64_t j = 0; j < i; ++j) places.push_back(i * vectors + j);
    return places;
}

Tensor on_device(const std::vector<std::int64_t>& numbers, const Device& device) {
    const Tensor out =
        Tensor::empty({static_cast<std::int64_t>(numbers.size())}, DType::i64, device);
    copy_from_host(out.data(), numbers.data(), out.bytes(), device);
    return out;
}

std::vector<std::int64_t> joined(std::int64_t first, std::vector<std::int64_t> middle,
                                 std::int64_t last) {
    middle.insert(middle.begin(), first);
    middle.push_back(last);
    return middle;
}

Dlrm::Dlrm(const Sizes& sizes, std::optional<std::int64_t> seed, const Device& device)
    : Model(seed, device), width_(sizes.embedding) {
    const std::vector<std::int64_t> pairs = make_pairs(sizes.tables + 1);
    for (std::int64_t t = 0; t < sizes.tables; ++t) {
        const std::string name = "emb_l." + std::to_string(t);
        table_names_.emplace_back(name);
        tables_.push_back(registry_.uniform(name + ".weight", {sizes.rows, width_},
                                            std::sqrt(1 / static_cast<double>(sizes.rows)),
                                            /*autocast_low=*/false));
    }
    bottom_ = network(registry_, "bot_l", joined(sizes.numbers, sizes.bottom, width_));
    top_ = network(registry_, "top_l",
                   joined(width_ + static_cast<std::int64_t>(pairs.size()), sizes.top, 1));
    const UseScope use(MemoryUse::weights);
    const std::int64_t count = sizes.tables + 1;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count * count), -1);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        numbers[static_cast<std::size_t>(pairs[i])] = static_cast<std::int64_t>(i);
    pair_index_ = on_device(pairs, device);
    index_pair_ = on_device(numbers, device);
}

/// (B, width) and the ids (B, T) -> (B, 1 + T, width).
Tensor Dlrm::side_by_side(const Tensor& x, const Tensor& ids) const {
    const auto together = [&] { return embedding_bag_group(x, ids, tables_, sparse_gradients); };
    const bool joins = can_group_bags(x, tables_);
    if (joins && !operations_are_observed()) return together();
    const auto apart = [ids, names = table_names_,
                        sparse = sparse_gradients](const TensorList& in) {
        TensorList vectors{in[0]};
        for (std::size_t t = 0; t < names.size(); ++t) {
            const ModuleScope opened(names[t]);
            vectors.push_back(embedding_bag(narrow(ids, 1, static_cast<std::int64_t>(t), 1),
                                            in[t + 1], {}, {},
                                            {.mode = BagMode::sum, .sparse = sparse}));
        }
        return TensorList{
            reshape(cat(vectors, 1), {in[0].size(0), std::ssize(vectors), in[0].size(1)})};
    };
    TensorList inputs{x};
    std::vector<Edge> leaves;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        const ModuleScope opened(table_names_[t]);
        inputs.push_back(tables_[t]);
        leaves.push_back(in_open_module(tables_[t]));
    }
    return (joins ? show_parts(
                        inputs, [&] { return TensorList{together()}; }, apart)
                  : apart(inputs))
        .front();
}

/// (B, width) and the ids (B, T) -> (B, width + pairs).
Tensor Dlrm::interact(const Tensor& x, const Tensor& ids) const {
    const Tensor all = side_by_side(x, ids);
    const Tensor products = matmul(all, transpose(all, 1, 2));
    const Tensor pairs = selected_once(reshape(products, {x.size(0), all.size(1) * all.size(1)}), 1,
                                       pair_index_, index_pair_);
    return cat({x, pairs}, 1);
}

TensorList Dlrm::forward(const TensorList& inputs) {
    Tensor x = inputs[0];
    for (const Linear& layer : bottom_) x = linear_relu(layer, x);
    return {linear_chain(top_, interact(x, inputs[1]))};
}

std::vector<OptionSpec> dlrm_options() {
    return {option("bottom", "Bottom layers", std::vector<std::int64_t>{512, 256, 64},
                   "Sizes of the hidden layers that the numbers go through, first to last. One "
                   "more layer has the embedding's width.",
                   opt::between(1, 65536), opt::prominent),
            option("top", "Top layers", std::vector<std::int64_t>{512, 256},
                   "Sizes of the hidden layers after the interaction, first to last.",
                   opt::between(1, 65536), opt::prominent),
            option("embedding", "Embedding width", std::int64_t{16},
                   "Length of the vector for each id of a table.", opt::between(1, 65536),
                   opt::prominent)};
}

}  // namespace

ModelDescriptor dlrm_descriptor() {
    return {.kind = "dlrm",
            .title = "DLRM",
            .summary =
                "Recommendation model: embedding tables for ids, small networks for numbers, "
                "and the products of all pairs.",
            .inputs = {FieldKind::indices},
            .output = ModelOutput::click_scores,
            .options = dlrm_options(),
            .second_derivative = true,
            // With these its tables have sparse gradients.
            .benchmark = {.batch = 512, .optimizer = {{"momentum", 0.0}, {"weight_decay", 0.0}}},
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                const auto& inputs = setup.shape.inputs;
                if (inputs.size() != 2)
                    throw Error(ErrorCode::settings, msg("dlrm: needs numbers and ids of tables"));
                Dlrm::Sizes sizes;
                sizes.numbers = inputs[0].shape.numel();
                sizes.tables = inputs[1].shape.numel();
                sizes.rows = inputs[1].cardinality;
                sizes.embedding = setup.options.integer("embedding");
                sizes.bottom = setup.options.integers("bottom");
                sizes.top = setup.options.integers("top");
                return std::make_unique<Dlrm>(sizes, setup.seed, setup.device);
            }};
}

}  // namespace engine
