#include "train/predict/prompt_tokens.h"

#include <algorithm>
#include <unordered_map>

#include "base/text_utf8.h"
#include "data/text/text_case.h"
#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {

PromptTokens prompt_tokens(const InputGuide& guide, bool lowercase, std::string text) {
    if (first_bad_byte(text) != text.size())
        throw Error(ErrorCode::value, msg("the text is not valid UTF-8"));
    if (lowercase) lower_case(std::span<char>(text.data(), text.size()));
    text.resize(normalise_text({text.data(), text.size()}));
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

Message unknown_note(const InputGuide& guide, const PromptTokens& prompt) {
    if (prompt.unknown.empty()) return {};
    constexpr std::size_t most_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(prompt.unknown.size(), most_named); ++i)
        names += (i == 0 ? "\"" : ", \"") + prompt.unknown[i] + "\"";
    if (prompt.unknown.size() > most_named) names += ", ...";
    if (!prompt.left_out)
        return msg("Not in the vocabulary of the run, and read as <unk>: {}", names);
    return guide.words
               ? msg("Words that are not in the vocabulary of the run are left out: {}", names)
               : msg("Characters that are not in the vocabulary of the run are left out: "
                     "{}",
                     names);
}

}  // namespace engine
