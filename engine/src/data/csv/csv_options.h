#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/csv/csv_text.h"
#include "engine/base/options.h"
#include "engine/settings/run_config.h"

namespace engine {

inline constexpr char csv_kind[] = "csv";

/// Whether the first row holds the names of the columns; in the order of the option's choices.
enum class CsvHeader { automatic, present, absent };

/// Treatment of missing values in the columns in use; in the order of the option's choices.
enum class CsvMissing {
    refuse,  ///< Error(data)
    drop,    ///< the row is left out
    mean,    ///< the training part's mean, or its most frequent category
};

/// Options of the data set kind `csv`, typed.
struct CsvOptions {
    std::string target{};                ///< empty: the last column
    std::vector<std::string> columns{};  ///< features; empty: all columns but the target
    char delimiter = '\0';               ///< '\0': found from the file
    CsvHeader header = CsvHeader::automatic;
    std::vector<std::string> categorical{};
    CsvMissing missing = CsvMissing::refuse;
    std::vector<std::string> missing_words{};  ///< empty: usual_missing_words(), but in classes
    std::vector<std::string> without{};        ///< columns that are not used
    bool standardize = true;
    double test_share = 0.2;

    /// Words that mean a missing value, besides the empty field.
    std::span<const std::string> words_for_missing() const {
        return missing_words.empty() ? usual_missing_words() : missing_words;
    }
};

std::span<const OptionSpec> csv_option_specs();

/// The options of `config`, which must have passed validate(). Beyond the types of the specs, takes
/// true and false for `header` and numbers for columns. Throws Error(settings) for other types and
/// for words that are no choice.
CsvOptions read_csv_options(const DatasetConfig& config);

}  // namespace engine
