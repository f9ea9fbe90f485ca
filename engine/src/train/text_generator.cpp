#include "train/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>

#include "data/text_case.h"
#include "data/text_tokenizer.h"
#include "engine/error.h"
#include "train/part_report.h"

namespace engine {
namespace {

/// Token ids of a prompt.
std::vector<std::int64_t> ids_of(const InputGuide& guide, bool lowercase, std::string prompt) {
    if (lowercase) lower_case(std::span<char>(prompt.data(), prompt.size()));
    std::unordered_map<std::string, std::int64_t> ids;
    for (const std::string& word : guide.vocabulary)
        ids.emplace(word, static_cast<std::int64_t>(ids.size()));
    const auto unknown = ids.find(std::string(unknown_token));
    const auto tokenizer = guide.words ? make_word_tokenizer() : make_character_tokenizer();
    tokenizer->begin_file("prompt");
    tokenizer->add(prompt + (guide.words ? " " : ""));  // a word ends where white space begins
    const std::vector<std::int32_t> numbers = tokenizer->tokens();
    const std::vector<std::string> names = tokenizer->take_names();
    std::vector<std::int64_t> out;
    for (const std::int32_t number : numbers) {
        const auto found = ids.find(names[static_cast<std::size_t>(number)]);
        if (found != ids.end())
            out.push_back(found->second);
        else if (unknown != ids.end())
            out.push_back(unknown->second);
    }
    return out;
}

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
    std::vector<std::int64_t> prompt = ids_of(guide, lowercase, options.prompt);
    bool at_line_start = prompt.empty();
    // Without a prompt the text begins as after the end of a line.
    if (prompt.empty()) prompt = ids_of(guide, false, "\n");
    if (prompt.empty()) prompt = {0};
    const auto sample = std::make_shared<MadeSample>(guide.schema);
    const std::string input = predictor.task().model_shape().inputs.front().name;
    std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
    predictor.begin();
    std::vector<double> scores;
    const auto read = [&](std::int64_t id) {
        sample->i64(input) = {id};
        scores = predictor.predict(sample).values();
    };
    for (const std::int64_t id : prompt) read(id);
    for (std::int64_t i = 0; i < options.length; ++i) {
        const std::int64_t next = draw(scores, options, random);
        if (!take(written(guide, next, at_line_start))) break;
        if (i + 1 < options.length) read(next);
    }
    predictor.take();
}

}  // namespace engine
