#include "engine/base/error.h"
#include "models/model.h"
#include "models/shared_options.h"
#include "nn/transformer.h"
#include "ops/index/gather.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

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

    Sizes sizes_;
    ModuleName bert_, encoder_;
    Embeddings embeddings_;
    std::vector<Block> blocks_;
    Head head_;
};

constexpr double weight_deviation = 0.02;
constexpr double norm_eps = 1e-12;
constexpr std::int64_t segments = 2;

/// The rows of a batch that these places of each sample are: (samples * n).
Tensor rows_at(const Tensor& places, std::int64_t window) {
    const GradMode off(false);
    const Tensor sample = counting({places.size(0), 1}, places.device());
    const Tensor length =
        Tensor::full({}, static_cast<double>(window), DType::i64, places.device());
    return reshape(add(mul(sample, length), places), {places.numel()});
}

Tensor gelu_in(ModuleName module, const Tensor& x) {
    const ModuleScope opened(module);
    return gelu(x);
}

Bert::Residual::Residual(TensorRegistry& registry, const std::string& name, std::int64_t in,
                         const Sizes& sizes)
    : module(name),
      dense(registry, name + ".dense", in, sizes.width, weight_deviation),
      norm(registry, name + ".LayerNorm", sizes.width, norm_eps),
      dropout(name + ".dropout", sizes.dropout) {}

Tensor Bert::Residual::operator()(const Tensor& x, const Tensor& around,
                                  DropoutDraws& draws) const {
    const ModuleScope opened(module);
    return norm.of_sum(dropout(dense(x), draws), around).normed;
}

Bert::Bert(const Sizes& sizes, std::optional<std::int64_t> seed, const Device& device)
    : Model(seed, device), sizes_(sizes), bert_("bert"), encoder_("bert.encoder") {
    const std::string name = "bert.embeddings";
    const auto table = [&](const char* what, std::int64_t rows, bool shared = false) {
        return Embedding::normal(registry_, name + "." + what, rows, sizes.width, weight_deviation,
                                 shared);
    };
    embeddings_.module = ModuleName(name);
    embeddings_.words = table("word_embeddings", sizes.words, /*shared=*/true);
    embeddings_.positions = table("position_embeddings", sizes.context);
    embeddings_.segments = table("token_type_embeddings", segments);
    embeddings_.norm = LayerNorm(registry_, name + ".LayerNorm", sizes.width, norm_eps);
    embeddings_.dropout = Dropout(name + ".dropout", sizes.dropout);
    for (std::int64_t i = 0; i < sizes.layers; ++i) blocks_.push_back(make_block(i));

    const std::string head = "cls.predictions";
    head_.module = ModuleName(head);
    head_.transform_module = ModuleName(head + ".transform");
    head_.decoder = ModuleName(head + ".decoder");
    head_.bias = registry_.constant(head + ".bias", {sizes.words}, 0, /*autocast_low=*/true);
    head_.transform =
        Linear(registry_, head + ".transform.dense", sizes.width, sizes.width, weight_deviation);
    head_.norm = LayerNorm(registry_, head + ".transform.LayerNorm", sizes.width, norm_eps);
    registry_.alias(head + ".decoder.weight", name + ".word_embeddings.weight");
    registry_.alias(head + ".decoder.bias", head + ".bias");
}

Bert::Block Bert::make_block(std::int64_t index) {
    const std::string name = "bert.encoder.layer." + std::to_string(index);
    const std::string attention = name + ".attention", self = attention + ".self";
    const std::int64_t width = sizes_.width;
    const auto projection = [&](const char* what) {
        return Linear(registry_, self + "." + what, width, width, weight_deviation);
    };
    Block block;
    block.name = ModuleName(name);
    block.attention = ModuleName(attention);
    block.self = ModuleName(self);
    block.intermediate = ModuleName(name + ".intermediate");
    block.query = projection("query");
    block.key = projection("key");
    block.value = projection("value");
    block.heads = {sizes_.heads, false, Dropout(self + ".dropout", sizes_.dropout)};
    block.attended = Residual(registry_, attention + ".output", width, sizes_);
    block.expand = Linear(registry_, name + ".intermediate.dense", width, sizes_.feed_forward,
                          weight_deviation);
    block.output = Residual(registry_, name + ".output", sizes_.feed_forward, sizes_);
    return block;
}

DropoutDraws Bert::draws(std::int64_t count) const {
    if (!training || sizes_.dropout == 0) return {};
    return {*random, count};
}

Tensor Bert::embed(const Tensor& tokens, DropoutDraws draws) const {
    const ModuleScope opened(embeddings_.module);
    const auto rows = [](const Embedding& table, std::int64_t count) {
        const ModuleScope inside(table.module);
        return narrow(table.weight, 0, 0, count);
    };
    const Tensor words = add(embeddings_.words(tokens), rows(embeddings_.segments, 1));
    const Tensor sum = add(words, rows(embeddings_.positions, tokens.size(1)));
    const Tensor normalised = embeddings_.norm(reshape(sum, {tokens.numel(), sizes_.width}));
    return embeddings_.dropout(normalised, draws);
}

Tensor Bert::attend(const Block& block, const Tensor& x, const TokenRows& of,
                    DropoutDraws& draws) const {
    const ModuleScope opened(block.self);
    return block.heads(block.query(x), block.key(x), block.value(x), of, draws);
}

Tensor Bert::run(const Block& block, const Tensor& x, const TokenRows& of,
                 DropoutDraws draws) const {
    Tensor attended;
    {
        const ModuleScope opened(block.attention);
        attended = block.attended(attend(block, x, of, draws), x, draws);
    }
    const Tensor h = gelu_in(block.intermediate, block.expand(attended));
    return block.output(h, attended, draws);
}

Tensor Bert::decode(const Tensor& hidden) const {
    const ModuleScope opened(head_.module);
    Tensor h;
    {
        const ModuleScope transform(head_.transform_module);
        h = head_.norm(gelu_in(head_.transform_module, head_.transform(hidden)));
    }
    const ModuleScope decoder(head_.decoder);
    return linear(h, embeddings_.words.weight, head_.bias);
}

TensorList Bert::forward(const TensorList& inputs) {
    const Tensor& tokens = inputs[0];
    const TokenRows of{tokens.size(0), tokens.size(1)};
    if (of.tokens > sizes_.context) {
        throw Error(ErrorCode::shape, "bert: a window of " + std::to_string(of.tokens) +
                                          " tokens is longer than the model's " +
                                          std::to_string(sizes_.context));
    }
    const std::int64_t width = of.rows() * sizes_.width;
    Tensor h;
    {
        const ModuleScope opened(bert_);
        h = embed(tokens, draws(width));
        const ModuleScope encoder(encoder_);
        for (const Block& each : blocks_) {
            const DropoutDraws numbers = draws(each.heads.draws(of) + 2 * width);
            h = block(each.name, h, [this, &each, of, numbers](const Tensor& x) {
                return run(each, x, of, numbers);
            });
        }
    }
    if (inputs.size() > 1) h = index_select(h, 0, rows_at(inputs[1], of.tokens));
    return {decode(h)};
}

}  // namespace

ModelDescriptor bert_descriptor() {
    return {.kind = "bert",
            .title = "BERT",
            .summary = "Attention over a whole window finds the words that are masked in it.",
            .inputs = {FieldKind::tokens},
            .output = ModelOutput::masked_token_scores,
            .options = transformer_options({.layers = 4, .width = 256, .heads = 4}),
            .has_blocks = true,
            .benchmark = {.batch = 16},
            .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
                const TransformerSizes sizes = transformer_sizes(setup);
                return std::make_unique<Bert>(
                    Bert::Sizes{setup.shape.outputs, sizes.layers, sizes.width, sizes.heads,
                                sizes.feed_forward, sizes.context, sizes.dropout},
                    setup.seed, setup.device);
            }};
}

}  // namespace engine
