#include "train/predict/mask_filler.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"
#include "train/predict/part_report.h"
#include "train/predict/prompt_tokens.h"

namespace engine {
namespace {

/// A mask in a text.
struct MaskPlace {
    std::int64_t token = 0;    ///< among the text's tokens
    std::int64_t in_text = 0;  ///< among its words or characters, unknown ones counted
};

/// The text's tokens, and where masks stand among them.
struct MaskedText {
    std::vector<std::int64_t> tokens;
    std::vector<MaskPlace> places;
};

MaskedText read_text(const InputGuide& guide, bool lowercase, const std::string& text,
                     const std::string& mask) {
    const auto id = static_cast<std::int64_t>(guide.vocabulary.size());  // behind its words
    MaskedText out;
    std::int64_t in_text = 0;
    for (std::size_t at = 0;;) {
        const std::size_t next = text.find(mask, at);
        const auto piece = prompt_tokens(guide, lowercase, text.substr(at, next - at));
        out.tokens.insert(out.tokens.end(), piece.ids.begin(), piece.ids.end());
        in_text += piece.read;
        if (next == std::string::npos) return out;
        out.places.push_back({std::ssize(out.tokens), in_text++});
        out.tokens.push_back(id);
        at = next + mask.size();
    }
}

void check(const MaskedText& text, const std::string& mask, std::int64_t longest) {
    if (text.places.empty()) throw Error(ErrorCode::value, msg("the text has no {} to fill", mask));
    if (std::ssize(text.tokens) > longest)
        throw Error(ErrorCode::value, msg("the text has {} tokens; the model reads {} at most",
                                          std::ssize(text.tokens), longest));
}

/// A batch of this one window, asking for the token at `place`. Bypasses the task's transforms,
/// which would mask it again.
Batch batch_of(const Schema& schema, const std::string& input,
               const std::vector<std::int64_t>& tokens, std::int64_t place) {
    Batch batch;
    batch.indices = {0};
    batch.samples = std::ssize(tokens);
    for (const FieldSpec& spec : schema.fields) {
        BatchField& field = batch.fields.emplace_back();
        field.shape = {1, batch.samples};
        field.dtype = spec.dtype;
        field.bytes.resize(tokens.size() * sizeof(std::int64_t));
        const auto values = field.values<std::int64_t>();
        // Targets of 0: the loss that follows is not read.
        std::ranges::fill(values, spec.kind == FieldKind::other ? place : 0);
        if (spec.name == input) std::ranges::copy(tokens, values.begin());
    }
    return batch;
}

/// The most probable words of the text's vocabulary.
std::vector<FilledMask::Word> best_words(const Tensor& scores, const InputGuide& guide,
                                         std::int64_t most) {
    const auto* row = scores.data_as<float>();
    const std::vector<double> shares =
        probabilities_of(std::vector<double>(row, row + scores.size(1)));
    std::vector<std::size_t> all(guide.vocabulary.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<std::size_t> order(std::min(all.size(), static_cast<std::size_t>(most)));
    std::partial_sort_copy(all.begin(), all.end(), order.begin(), order.end(),
                           [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
    std::vector<FilledMask::Word> out;
    for (const std::size_t id : order) out.push_back({guide.vocabulary[id], shares[id]});
    return out;
}

}  // namespace

std::vector<FilledMask> fill_masks(Predictor& predictor, const InputGuide& guide, bool lowercase,
                                   const std::string& text, std::int64_t most) {
    const std::string mask = predictor.task().added_tokens().front();
    const MaskedText read = read_text(guide, lowercase, text, mask);
    check(read, mask, predictor.model().context());
    const Schema& schema = predictor.task().schema(false);
    const std::string input = predictor.task().model_shape().inputs.front().name;
    const auto feed = make_ring_feed(predictor.device(), schema);
    predictor.begin();
    std::vector<FilledMask> out;
    for (const MaskPlace& place : read.places) {
        const Batch batch = batch_of(schema, input, read.tokens, place.token);
        const Tensor scores = predictor.predict(batch, *feed);
        out.push_back({place.in_text, best_words(scores, guide, most)});
    }
    predictor.take();
    return out;
}

}  // namespace engine
