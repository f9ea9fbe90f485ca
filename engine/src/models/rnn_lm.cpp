#include <iterator>

#include "engine/base/error.h"
#include "models/model.h"
#include "models/model_descriptor.h"
#include "nn/recurrent.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/dropout.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

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

constexpr double init_range = 0.1;

RecurrentKind cell_of(const std::string& name) {
    if (name == "gru") return RecurrentKind::gru;
    if (name == "rnn-tanh") return RecurrentKind::rnn_tanh;
    return name == "rnn-relu" ? RecurrentKind::rnn_relu : RecurrentKind::lstm;
}

RnnLanguageModel::RnnLanguageModel(const Sizes& sizes, std::optional<std::int64_t> seed,
                                   const Device& device)
    : Model(seed, device), sizes_(sizes), drop_("drop"), decoder_("decoder") {
    if (sizes.tied && sizes.embedding != sizes.hidden) {
        throw Error(
            ErrorCode::settings,
            msg("model.options.tied: true: embedding and hidden must have the same size, not "
                "{} and {}",
                sizes.embedding, sizes.hidden));
    }
    encoder_ =
        Embedding(registry_, "encoder", sizes.words, sizes.embedding, init_range, sizes.tied);
    rnn_ = Recurrent(registry_, "rnn", sizes.cell,
                     {.in = sizes.embedding,
                      .hidden = sizes.hidden,
                      .num_layers = sizes.layers,
                      .dropout = sizes.dropout});
    if (sizes.tied) {
        decoder_weight_ = encoder_.weight;
        registry_.alias("decoder.weight", "encoder.weight");
    } else {
        decoder_weight_ =
            registry_.uniform("decoder.weight", {sizes.words, sizes.hidden}, init_range, true);
    }
    decoder_bias_ = registry_.constant("decoder.bias", {sizes.words}, 0);
}

Tensor RnnLanguageModel::drop(const Tensor& x) const {
    if (!training || sizes_.dropout == 0) return x;
    const ModuleScope opened(drop_);
    const std::uint64_t first = random->take(x.numel());
    return dropout(x, sizes_.dropout, random->source(), first, /*runs=*/x.size(0));
}

Tensor RnnLanguageModel::decode(const Tensor& hidden) const {
    const ModuleScope opened(decoder_);
    return linear(hidden, decoder_weight_, decoder_bias_);
}

TensorList RnnLanguageModel::forward(const TensorList& inputs) {
    const Tensor tokens = contiguous(transpose(inputs[0], 0, 1));  // (window, streams)
    const Tensor embedded = drop(encoder_(tokens));
    RecurrentCall call{.training = training};
    for (auto state = std::next(inputs.begin()); state != inputs.end(); ++state)
        call.hx.push_back(to(*state, embedded.dtype()));
    if (training && sizes_.dropout > 0) {
        call.random = random->source();
        call.random_offset = random->take((sizes_.layers - 1) * tokens.numel() * sizes_.hidden);
    }
    TensorList out = rnn_(embedded, call);
    const Tensor hidden = reshape(drop(out[0]), {tokens.numel(), sizes_.hidden});
    out[0] = decode(hidden);
    return out;
}

std::vector<Shape> RnnLanguageModel::state_shapes(std::int64_t streams) const {
    const Shape shape{sizes_.layers, streams, sizes_.hidden};
    if (sizes_.cell == RecurrentKind::lstm) return {shape, shape};
    return {shape};
}

std::vector<OptionSpec> rnn_options() {
    return {
        option("cell", "Cell", std::string("lstm"),
               "Kind of recurrent layer. LSTM and GRU remember over longer spans than plain RNNs.",
               opt::one_of({{"lstm", "LSTM"},
                            {"gru", "GRU"},
                            {"rnn-tanh", "RNN (tanh)"},
                            {"rnn-relu", "RNN (ReLU)"}}),
               opt::prominent),
        option("embedding", "Embedding size", std::int64_t{200},
               "Length of the vector for one word.", opt::between(1, 65536), opt::prominent),
        option("hidden", "Hidden size", std::int64_t{200},
               "Length of the state of each recurrent layer.", opt::between(1, 65536),
               opt::prominent),
        option("layers", "Layers", std::int64_t{2}, "Recurrent layers on top of each other.",
               opt::between(1, 64), opt::prominent),
        option("dropout", "Dropout", 0.2,
               "Share of values that is set to 0 at random in training, against overfitting.",
               opt::from_to_below(0, 1)),
        option("tied", "Tied weights", false,
               "Uses the embedding's table as the weight of the output layer. Needs equal "
               "embedding and hidden sizes.")};
}

}  // namespace

ModelDescriptor rnn_lm_descriptor() {
    return {
        .kind = "rnn-lm",
        .title = "RNN language model",
        .summary = "Recurrent layers that predict the next word or character from those before.",
        .inputs = {FieldKind::tokens},
        .output = ModelOutput::token_scores,
        .options = rnn_options(),
        .steps_first = true,
        .benchmark = {.batch = 20},
        .make = [](const ModelSetup& setup) -> std::unique_ptr<Model> {
            const TypedOptions& given = setup.options;
            RnnLanguageModel::Sizes sizes;
            sizes.cell = cell_of(given.word("cell"));
            sizes.words = setup.shape.outputs;
            sizes.embedding = given.integer("embedding");
            sizes.hidden = given.integer("hidden");
            sizes.layers = given.integer("layers");
            sizes.dropout = given.number("dropout");
            sizes.tied = given.flag("tied");
            return std::make_unique<RnnLanguageModel>(sizes, setup.seed, setup.device);
        }};
}

}  // namespace engine
