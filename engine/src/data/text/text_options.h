#pragma once

#include <span>

#include "engine/base/options.h"

namespace engine {

/// Options of the kind `text-words`: min_count, max_words, lowercase, test_share.
std::span<const OptionSpec> text_words_option_specs();

/// Options of the kind `text-chars`: min_count, lowercase, test_share.
std::span<const OptionSpec> text_chars_option_specs();

}  // namespace engine
