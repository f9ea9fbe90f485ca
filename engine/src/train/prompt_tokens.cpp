#include "train/prompt_tokens.h"

#include <unordered_map>

#include "data/text_case.h"
#include "data/text_tokenizer.h"

namespace engine {

std::vector<std::int64_t> prompt_tokens(const InputGuide& guide, bool lowercase, std::string text) {
    if (lowercase) lower_case(std::span<char>(text.data(), text.size()));
    std::unordered_map<std::string, std::int64_t> ids;
    for (const std::string& word : guide.vocabulary)
        ids.emplace(word, static_cast<std::int64_t>(ids.size()));
    const auto unknown = ids.find(std::string(unknown_token));
    const auto tokenizer = guide.words ? make_word_tokenizer() : make_character_tokenizer();
    tokenizer->begin_file("prompt");
    tokenizer->add(text + (guide.words ? " " : ""));  // a word ends where white space begins
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

}  // namespace engine
