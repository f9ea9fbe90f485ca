#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/csv/csv_scan.h"

namespace engine {

enum class CsvRole { feature, target, unused };

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

/// The use of each column of a table.
struct CsvLayout {
    std::vector<CsvRole> roles;
    std::vector<CsvColumnForm> forms;
    std::size_t target = 0;
    std::vector<Message> warnings;  ///< of what may surprise in how the columns are read
};

/// Resolves the options' column names, decides which columns are categorical, and applies
/// CsvMissing::refuse. A column whose values mostly are numbers of one form is numeric: what else
/// stands in it counts as missing. Throws Error(data) for unknown names, for columns in use that
/// hold numbers out of range or with a decimal comma, or hold nothing, and for missing values that
/// the options refuse.
CsvLayout plan_csv_columns(const CsvSource& source, const CsvScan& scan);

}  // namespace engine
