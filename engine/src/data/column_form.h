#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct CsvValue;

/// How the cells of a column are read.
struct CsvColumnForm {
    bool categorical = false;                  ///< otherwise numeric
    bool keeps_missing_words = false;          ///< NA and its like are categories
    std::string unit{};                        ///< beside each number
    bool commas = false;                       ///< between groups of digits
    std::vector<std::string> other_missing{};  ///< words among its numbers, at most eight

    /// `value`, which parse_csv_value() made of `field`, in this column: a word of a categorical
    /// column, a number of a numeric one, or missing. A text that is no number of this form stays
    /// as it is.
    CsvValue read(CsvValue value, std::string_view field) const;

    bool operator==(const CsvColumnForm&) const = default;
};

}  // namespace engine
