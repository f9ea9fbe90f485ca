#include "train/predict/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"
#include "train/predict/part_report.h"
#include "train/predict/prompt_tokens.h"

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
    const std::vector<double> probabilities = probabilities_of(scores);
    // Not std::discrete_distribution, whose numbers differ between libraries.
    double left = static_cast<double>(random() >> 11) * 0x1p-53;
    for (std::int64_t i = 0; i < count; ++i) {
        left -= probabilities[static_cast<std::size_t>(i)];
        if (left < 0) return i;
    }
    return most;
}

/// How a token is written behind the text so far.
std::string written(const InputGuide& guide, std::int64_t id, bool& at_line_start) {
    const std::string& word = guide.vocabulary[static_cast<std::size_t>(id)];
    if (!guide.words) return word;
    if (word == end_of_line_token) {
        at_line_start = true;
        return "\n";
    }
    return std::exchange(at_line_start, false) ? word : " " + word;
}

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

}  // namespace

void generate_text(Predictor& predictor, const InputGuide& guide, bool lowercase,
                   const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& take) {
    check(options);
    std::vector<std::int64_t> prompt = prompt_tokens(guide, lowercase, options.prompt).ids;
    bool at_line_start = prompt.empty();
    // Without a prompt the text begins as after the end of a line.
    if (prompt.empty()) prompt = prompt_tokens(guide, false, "\n").ids;
    if (prompt.empty()) prompt = {0};
    std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
    NextToken text(predictor, guide.schema);
    text.read(prompt);
    for (std::int64_t i = 0; i < options.length; ++i) {
        const std::int64_t next = draw(text.scores(), options, random);
        if (!take(written(guide, next, at_line_start))) break;
        if (i + 1 < options.length) text.read({&next, 1});
    }
    predictor.take();
}

}  // namespace engine
