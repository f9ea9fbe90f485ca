#pragma once

#include <cstdint>
#include <string>

namespace engine {

/// Random sentences in simple English: the first `characters` of an endless text that depends only
/// on the seed and `part`. Different parts are independent.
///
/// The text has 40 distinct characters and rules of increasing difficulty: spelling, "a" and "an",
/// subject-verb agreement, quotations, matching brackets of three kinds, and correct sums and
/// differences ("seven and five is twelve."). Sentences end with ". ", paragraphs with ".\n".
std::string generated_text(std::int64_t seed, std::int64_t characters, std::uint32_t part = 0);

/// "twelve", "twenty-one"; from 0 to 99.
std::string number_in_words(std::int64_t number);

}  // namespace engine
