#include "data/text/text_vocabulary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::int32_t dropped = -1;

std::vector<std::int64_t> count_tokens(std::span<const std::int32_t> tokens, std::size_t distinct) {
    std::vector<std::int64_t> counts(distinct);
    for (const auto token : tokens) ++counts[static_cast<std::size_t>(token)];
    return counts;
}

bool is_special(const VocabularyRules& rules, const std::string& name) {
    return rules.words && (name == end_of_line_token || name == unknown_token);
}

/// The numbers of the names that stay, specials not among them, in their order.
std::vector<std::int32_t> frequent(const VocabularyRules& rules,
                                   const std::vector<std::string>& names,
                                   const std::vector<std::int64_t>& counts) {
    std::vector<std::int32_t> kept;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!is_special(rules, names[i]) && counts[i] >= std::max<std::int64_t>(rules.min_count, 1))
            kept.push_back(static_cast<std::int32_t>(i));
    }
    const auto most = static_cast<std::size_t>(rules.max_words);
    if (most == 0 || kept.size() <= most) return kept;
    const auto count = [&](std::int32_t i) { return counts[static_cast<std::size_t>(i)]; };
    std::sort(kept.begin(), kept.end(), [&](std::int32_t a, std::int32_t b) {
        return count(a) != count(b) ? count(a) > count(b) : a < b;
    });
    kept.resize(most);
    return kept;
}

[[noreturn]] void refuse_min_count(const VocabularyRules& rules) {
    throw Error(ErrorCode::settings,
                rules.words
                    ? msg("dataset.min_count: {}: no word of the training part occurs that often",
                          rules.min_count)
                    : msg("dataset.min_count: {}: no character of the training part occurs that "
                          "often",
                          rules.min_count),
                msg("Take a smaller number."));
}

/// The numbers of the names that make up the vocabulary, in its order.
std::vector<std::int32_t> choose(const VocabularyRules& rules,
                                 const std::vector<std::string>& names,
                                 const std::vector<std::int64_t>& counts) {
    std::vector<std::int32_t> chosen = frequent(rules, names, counts);
    if (chosen.empty() && rules.min_count > 1) refuse_min_count(rules);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_special(rules, names[i]) && counts[i] > 0)
            chosen.push_back(static_cast<std::int32_t>(i));
    }
    // The order of code points is the order of their bytes in UTF-8.
    std::sort(chosen.begin(), chosen.end(), [&](std::int32_t a, std::int32_t b) {
        if (rules.words) return a < b;
        return names[static_cast<std::size_t>(a)] < names[static_cast<std::size_t>(b)];
    });
    return chosen;
}

/// Replaces the tokens by their new numbers, dropped ones by <unk>. Returns how many were dropped.
std::int64_t renumber(std::span<std::int32_t> tokens, std::span<const std::int32_t> new_numbers,
                      std::int32_t unknown) {
    std::int64_t count = 0;
    for (auto& token : tokens) {
        token = new_numbers[static_cast<std::size_t>(token)];
        if (token != dropped) continue;
        token = unknown;
        ++count;
    }
    return count;
}

/// Throws Error(data): tokens without an id cannot be read.
[[noreturn]] void refuse_lacking(const std::vector<std::string>& lacking, bool is_words) {
    const std::string some = first_tokens(lacking);
    throw Error(ErrorCode::data,
                is_words ? msg("The text has {} words that the vocabulary of the run lacks: {}",
                               lacking.size(), some)
                         : msg("The text has {} characters that the vocabulary of the run lacks: "
                               "{}",
                               lacking.size(), some),
                msg("Put the text back as it was, or train a new run on this one."));
}

}  // namespace

std::string first_tokens(const std::vector<std::string>& tokens) {
    constexpr std::size_t most = 8;
    std::string out;
    for (std::size_t i = 0; i < std::min(tokens.size(), most); ++i)
        out += (i == 0 ? "\"" : ", \"") + tokens[i] + '"';
    return out + (tokens.size() > most ? ", ..." : "");
}

AppliedVocabulary apply_vocabulary(std::vector<std::string> words, bool is_words,
                                   const std::vector<std::string>& names,
                                   std::span<std::int32_t> tokens, std::int64_t train) {
    std::unordered_map<std::string, std::int32_t> ids;
    for (const std::string& word : words) ids.emplace(word, static_cast<std::int32_t>(ids.size()));
    const auto unknown = ids.find(std::string(unknown_token));
    const auto counts = count_tokens(tokens, names.size());
    AppliedVocabulary out;
    std::vector<std::int32_t> new_numbers(names.size(), dropped);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const auto found = ids.find(names[i]); found != ids.end())
            new_numbers[i] = found->second;
        else if (counts[i] > 0)
            out.lacking.push_back(names[i]);
    }
    if (!out.lacking.empty() && unknown == ids.end()) refuse_lacking(out.lacking, is_words);
    renumber(tokens, new_numbers, unknown == ids.end() ? dropped : unknown->second);
    out.vocabulary = {is_words, std::move(words), {}};
    out.vocabulary.counts =
        count_tokens(tokens.first(static_cast<std::size_t>(train)), out.vocabulary.words.size());
    return out;
}

BuiltVocabulary build_vocabulary(const VocabularyRules& rules, std::vector<std::string> names,
                                 std::span<std::int32_t> tokens, std::int64_t train) {
    const auto training = tokens.first(static_cast<std::size_t>(train));
    const auto counts = count_tokens(training, names.size());
    BuiltVocabulary built{{rules.words, {}, {}}, 0};
    std::vector<std::string>& words = built.vocabulary.words;

    std::vector<std::int32_t> new_numbers(names.size(), dropped);
    for (const auto number : choose(rules, names, counts)) {
        const auto at = static_cast<std::size_t>(number);
        new_numbers[at] = static_cast<std::int32_t>(words.size());
        words.push_back(std::move(names[at]));
    }
    const auto found = std::find(words.begin(), words.end(), unknown_token);
    const auto unknown = static_cast<std::int32_t>(found - words.begin());
    const std::int64_t rare = renumber(training, new_numbers, unknown);
    built.unknown = renumber(tokens.subspan(training.size()), new_numbers, unknown);
    if (rare + built.unknown > 0 && found == words.end()) words.emplace_back(unknown_token);
    built.vocabulary.counts = count_tokens(training, words.size());
    return built;
}

}  // namespace engine
