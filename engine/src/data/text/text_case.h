#pragma once

#include <span>

namespace engine {

/// Lower case of a letter of ASCII, Latin-1, Latin Extended-A, Greek (U+0386 to U+03AB) or Cyrillic
/// (U+0400 to U+042F); any other character as it is. The result has as many bytes in UTF-8 as
/// `character`, so İ (U+0130) stays.
char32_t lower_case(char32_t character);

/// Lowers each character of valid UTF-8, in place.
void lower_case(std::span<char> text);

}  // namespace engine
