#include "train/predict/text_prompts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>

#include "base/text_utf8.h"
#include "data/text/text_source.h"
#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {
namespace {

/// Draws one of the tokens by their scores.
std::int64_t draw(std::vector<double> scores, const GenerateOptions& options,
                  std::mt19937_64& random) {
    const auto most = std::ranges::max_element(scores) - scores.begin();
    if (options.temperature == 0) return most;
    const auto count = static_cast<std::int64_t>(scores.size());
    if (options.top_k > 0 && options.top_k < count) {
        std::vector<double> sorted = scores;
        std::ranges::nth_element(sorted, sorted.begin() + options.top_k - 1, std::greater<>());
        const double least = sorted[static_cast<std::size_t>(options.top_k - 1)];
        for (double& score : scores) {
            if (score < least) score = -std::numeric_limits<double>::infinity();
        }
    }
    for (double& score : scores) score /= options.temperature;
    const std::vector<double> probabilities = to_probabilities(scores);
    // Not std::discrete_distribution, whose numbers differ between libraries.
    double left = static_cast<double>(random() >> 11) * 0x1p-53;
    for (std::int64_t i = 0; i < count; ++i) {
        left -= probabilities[static_cast<std::size_t>(i)];
        if (left < 0) return i;
    }
    return most;
}

/// Writes tokens as text, one behind the other.
class TextWriter {
public:
    /// `prompt`: the tokens before them.
    TextWriter(const TextForm& form, const std::vector<std::int64_t>& prompt)
        : form_(form), at_line_start_(prompt.empty()) {
        if (form_.tokenizer == nullptr) return;
        ids_.assign(prompt.begin(), prompt.end());
        settle();
    }

    /// How the token is written behind the text so far; "" while the bytes of a character are
    /// incomplete.
    std::string write(std::int64_t id) {
        if (form_.tokenizer != nullptr) return write_token(id);
        const std::string& word = form_.guide.vocabulary[static_cast<std::size_t>(id)];
        if (!form_.guide.words) return word;
        if (word == end_of_line_token) {
            at_line_start_ = true;
            return "\n";
        }
        return std::exchange(at_line_start_, false) ? word : " " + word;
    }

private:
    /// A character has at most four bytes, so more tokens than that hold no incomplete one.
    static constexpr std::size_t most_incomplete = 4;
    static constexpr std::size_t kept_before =
        8;  // tokens that the spelling of the next depends on

    std::string text() const { return form_.tokenizer->decode(ids_, false); }

    /// Keeps the last tokens, as what the next ones follow.
    void settle() {
        if (ids_.size() > kept_before) ids_.erase(ids_.begin(), ids_.end() - kept_before);
        shown_ = text();
        settled_ = ids_.size();
    }

    std::string write_token(std::int64_t id) {
        ids_.push_back(static_cast<std::int32_t>(id));
        const std::string now = text();
        if (now.ends_with("\uFFFD") && ids_.size() - settled_ < most_incomplete) return "";
        // Bytes that were shown as U+FFFD may have become a character.
        const auto same = std::ranges::mismatch(now, shown_).in1 - now.begin();
        const std::string_view kept =
            std::string_view(now).substr(0, static_cast<std::size_t>(same));
        std::string piece = now.substr(whole_characters(kept));
        settle();
        return piece;
    }

    const TextForm form_;
    bool at_line_start_;
    std::vector<std::int32_t> ids_;  // the last ones
    std::string shown_;              // their text, as far as it was written
    std::size_t settled_ = 0;        // tokens of `shown_`
};

/// The model's scores for the token after a growing text. A model with a state reads one token at a
/// time; one without reads the text's last window again.
class NextToken {
public:
    NextToken(Predictor& predictor, const Schema& schema)
        : predictor_(predictor),
          input_(predictor.task().model_shape().inputs.front().name),
          sample_(std::make_shared<MadeSample>(schema)) {
        predictor.begin();
    }

    void read(std::span<const std::int64_t> tokens) {
        if (!predictor_.model().state_shapes(1).empty()) {
            for (const std::int64_t id : tokens) show({&id, 1});
            return;
        }
        text_.insert(text_.end(), tokens.begin(), tokens.end());
        const auto longest = static_cast<std::size_t>(predictor_.model().context());
        if (longest > 0 && text_.size() > longest)
            text_.erase(text_.begin(), text_.end() - static_cast<std::ptrdiff_t>(longest));
        show(text_);
    }
    const std::vector<double>& scores() const { return scores_; }

private:
    void show(std::span<const std::int64_t> window) {
        sample_->set_window(std::ssize(window));
        sample_->i64(input_).assign(window.begin(), window.end());
        const Tensor all = predictor_.predict(sample_);  // (tokens, words)
        const auto* last = all.data_as<float>() + (all.size(0) - 1) * all.size(1);
        scores_.assign(last, last + all.size(1));
    }

    Predictor& predictor_;
    std::string input_;
    std::shared_ptr<MadeSample> sample_;
    std::vector<std::int64_t> text_;  // the last tokens of a model without a state
    std::vector<double> scores_;
};

void check(const GenerateOptions& options) {
    const auto refuse = [](Message message) {
        throw Error(ErrorCode::settings, std::move(message));
    };
    if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
        refuse(msg("temperature: {}: use a number, 0 or more", options.temperature));
    if (options.top_k < 0) refuse(msg("top_k: {}: use a whole number, 0 or more", options.top_k));
    if (options.length < 0)
        refuse(msg("length: {}: use a whole number, 0 or more", options.length));
}

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

/// The tokens of a text whose vocabulary has a token for masks, among special ones if the run's
/// lines have them.
MaskedText read_tokens(const TextForm& form, const std::string& text, std::int64_t mask) {
    using Frames = TokenizerPipeline::Frames;
    const auto ids =
        form.tokenizer->encode(text, form.guide.framed_lines ? Frames::around_text : Frames::none)
            .ids;
    MaskedText out;
    for (const std::int64_t id : ids) {
        if (id == mask) out.places.push_back({std::ssize(out.tokens), std::ssize(out.tokens)});
        out.tokens.push_back(id);
    }
    return out;
}

MaskedText read_text(const TextForm& form, const std::string& text, const std::string& mask) {
    const std::int64_t own = form.guide.schema.find(FieldKind::tokens)->mask_token;
    if (form.tokenizer != nullptr && own >= 0) return read_tokens(form, text, own);
    const auto id = static_cast<std::int64_t>(form.guide.vocabulary.size());  // behind its words
    MaskedText out;
    std::int64_t in_text = 0;
    for (std::size_t at = 0;;) {
        const std::size_t next = text.find(mask, at);
        const auto piece = prompt_tokens(form, text.substr(at, next - at));
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
std::vector<FilledMask::Word> best_words(const Tensor& scores, const TextForm& form,
                                         std::int64_t most) {
    const auto* row = scores.data_as<float>();
    const std::vector<double> shares =
        to_probabilities(std::vector<double>(row, row + scores.size(1)));
    std::vector<std::size_t> all(form.guide.vocabulary.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<std::size_t> order(std::min(all.size(), static_cast<std::size_t>(most)));
    std::partial_sort_copy(all.begin(), all.end(), order.begin(), order.end(),
                           [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
    std::vector<FilledMask::Word> out;
    for (const std::size_t id : order) {
        const auto token = static_cast<std::int32_t>(id);
        out.push_back({form.tokenizer == nullptr ? form.guide.vocabulary[id]
                                                 : form.tokenizer->decode({&token, 1}, false),
                       shares[id]});
    }
    return out;
}

}  // namespace

PromptTokens prompt_tokens(const TextForm& form, std::string text) {
    const InputGuide& guide = form.guide;
    if (first_bad_byte(text) != text.size())
        throw Error(ErrorCode::value, msg("the text is not valid UTF-8"));
    if (form.lowercase) lower_case(std::span<char>(text.data(), text.size()));
    text.resize(normalise_text({text.data(), text.size()}));
    if (form.tokenizer != nullptr) {
        auto encoding = form.tokenizer->encode(text, TokenizerPipeline::Frames::none);
        return {.ids = {encoding.ids.begin(), encoding.ids.end()},
                .read = std::ssize(encoding.ids),
                .unknown = std::move(encoding.unknown)};
    }
    std::unordered_map<std::string, std::int64_t> ids;
    for (const std::string& word : guide.vocabulary)
        ids.emplace(word, static_cast<std::int64_t>(ids.size()));
    const auto unknown = ids.find(std::string(unknown_token));
    const auto tokenizer = guide.words ? make_word_tokenizer() : make_character_tokenizer();
    tokenizer->begin_file("prompt");
    tokenizer->add(text + (guide.words ? " " : ""));  // a word ends where white space begins
    const std::vector<std::int32_t> numbers = tokenizer->tokens();
    const std::vector<std::string> names = tokenizer->take_names();
    PromptTokens out;
    out.read = std::ssize(numbers);
    for (const std::int32_t number : numbers) {
        const std::string& name = names[static_cast<std::size_t>(number)];
        const auto found = ids.find(name);
        if (found != ids.end()) {
            out.ids.push_back(found->second);
            continue;
        }
        if (std::ranges::find(out.unknown, name) == out.unknown.end()) out.unknown.push_back(name);
        if (unknown != ids.end()) out.ids.push_back(unknown->second);
    }
    out.left_out = unknown == ids.end() && !out.unknown.empty();
    return out;
}

Message unknown_note(const TextForm& form, const PromptTokens& prompt) {
    if (prompt.unknown.empty()) return {};
    constexpr std::size_t max_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(prompt.unknown.size(), max_named); ++i)
        names += (i == 0 ? "\"" : ", \"") + prompt.unknown[i] + "\"";
    if (prompt.unknown.size() > max_named) names += ", ...";
    if (form.tokenizer != nullptr) return msg("Not in the vocabulary of the tokenizer: {}", names);
    if (!prompt.left_out)
        return msg("Not in the vocabulary of the run, and read as <unk>: {}", names);
    return form.guide.words
               ? msg("Words that are not in the vocabulary of the run are left out: {}", names)
               : msg("Characters that are not in the vocabulary of the run are left out: "
                     "{}",
                     names);
}

void generate_text(Predictor& predictor, const TextForm& form, const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& take) {
    check(options);
    std::vector<std::int64_t> prompt = prompt_tokens(form, options.prompt).ids;
    TextWriter writer(form, prompt);
    // Without a prompt the text begins as after the end of a line.
    if (prompt.empty()) prompt = prompt_tokens(form, "\n").ids;
    if (prompt.empty()) prompt = {0};
    std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
    NextToken text(predictor, form.guide.schema);
    text.read(prompt);
    for (std::int64_t i = 0; i < options.length; ++i) {
        const std::int64_t next = draw(text.scores(), options, random);
        if (!take(writer.write(next))) break;
        if (i + 1 < options.length) text.read({&next, 1});
    }
    predictor.take();
}

std::string mask_name(const Task& task, const InputGuide& guide) {
    const std::int64_t own = guide.schema.find(FieldKind::tokens)->mask_token;
    return own >= 0 ? guide.vocabulary.at(static_cast<std::size_t>(own))
                    : task.added_tokens().front();
}

std::vector<FilledMask> fill_masks(Predictor& predictor, const TextForm& form,
                                   const std::string& text, std::int64_t most) {
    const std::string mask = mask_name(predictor.task(), form.guide);
    const MaskedText read = read_text(form, text, mask);
    check(read, mask, predictor.model().context());
    const Schema& schema = predictor.task().schema(false);
    const std::string input = predictor.task().model_shape().inputs.front().name;
    const auto feed = make_ring_feed(predictor.device(), schema);
    predictor.begin();
    std::vector<FilledMask> out;
    for (const MaskPlace& place : read.places) {
        const Batch batch = batch_of(schema, input, read.tokens, place.token);
        const Tensor scores = predictor.predict(batch, *feed);
        out.push_back({place.in_text, best_words(scores, form, most)});
    }
    predictor.take();
    return out;
}

}  // namespace engine
