#include "data/text/text_reader.h"

#include <vector>

namespace engine {
namespace {

OptionSpec min_count(const char* help) {
    return option("min_count", "Minimum count", std::int64_t{1}, help, opt::between(1, 1'000'000));
}

OptionSpec max_words() {
    return option(
        "max_words", "Vocabulary limit", std::int64_t{0},
        "Keeps this many of the most frequent words; the others become <unk>. 0 keeps all words.",
        opt::unit("words"), opt::at_least(0));
}

OptionSpec lowercase() {
    return option(
        "lowercase", "Lowercase", false,
        "Converts Latin, Greek and Cyrillic letters to lower case before the vocabulary is built.");
}

OptionSpec test_share() {
    return option("test_share", "Test share", 0.1,
                  "Fraction of the text, at its end, held out as the test set. A folder with its "
                  "own test file ignores it.",
                  opt::from_to_below(0, 1));
}

}  // namespace

std::span<const OptionSpec> text_words_option_specs() {
    static const std::vector<OptionSpec> specs = {
        min_count("Words that occur less often in the training part become <unk>."), max_words(),
        lowercase(), test_share()};
    return specs;
}

std::span<const OptionSpec> text_chars_option_specs() {
    static const std::vector<OptionSpec> specs = {
        min_count("Characters that occur less often in the training part become <unk>."),
        lowercase(), test_share()};
    return specs;
}

std::span<const OptionSpec> text_tokens_option_specs() {
    static const std::vector<OptionSpec> specs = {
        option("tokenizer", "Tokenizer", std::string(),
               "The tokenizer.json whose tokens the weights to start from know. The run keeps a "
               "copy.",
               opt::is_file, opt::prominent),
        option("special_tokens", "Special tokens", false,
               "Puts the tokenizer's special tokens, such as [CLS] and [SEP], around each line. "
               "Without them the text is read as a whole, with its line ends."),
        test_share()};
    return specs;
}

}  // namespace engine
