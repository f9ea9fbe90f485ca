#include "data/text/text_reader.h"

#include <vector>

namespace engine {
namespace {

OptionSpec min_count(const char* help) {
    return {.name = "min_count",
            .label = "Minimum count",
            .default_value = std::int64_t{1},
            .help = help,
            .lowest = 1,
            .highest = 1'000'000};
}

OptionSpec max_words() {
    return {.name = "max_words",
            .label = "Vocabulary limit",
            .default_value = std::int64_t{0},
            .help =
                "Keeps this many of the most frequent words; the others become <unk>. 0 keeps "
                "all words.",
            .unit = "words",
            .lowest = 0};
}

OptionSpec lowercase() {
    return {.name = "lowercase",
            .label = "Lowercase",
            .default_value = false,
            .help =
                "Converts Latin, Greek and Cyrillic letters to lower case before the "
                "vocabulary is built."};
}

OptionSpec test_share() {
    return {.name = "test_share",
            .label = "Test share",
            .default_value = 0.1,
            .help =
                "Fraction of the text, at its end, held out as the test set. A folder with its "
                "own test file ignores it.",
            .lowest = 0,
            .highest = 1,
            .below_highest = true};
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

}  // namespace engine
