#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// Surprises in how the columns of a table are read: for each reason the columns, as the
/// user is to see them.
struct CsvColumnNotes {
    static constexpr std::size_t max_named = 5;  ///< columns that one warning names

    using Columns = std::vector<std::string>;
    Columns empty, indices;                             ///< left out
    Columns written, rest;                              ///< of numbers
    Columns mixtures, large, kept_words, like_numbers;  ///< read as words
    Columns missing_words;

    /// One for each reason that there is.
    std::vector<Message> warnings() const;
};

}  // namespace engine
