#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/csv/csv_layout.h"
#include "data/csv/csv_scan.h"

namespace engine {

constexpr std::size_t csv_histogram_bins = 20;
constexpr std::size_t max_csv_shown_categories = 20;
constexpr std::size_t max_csv_counted_categories = 1000;

/// A column as a preview shows it, over all rows of the files, also those left out.
struct CsvColumn {
    struct Category {
        std::string word;  ///< shortened
        std::int64_t count = 0;
    };

    std::string name;
    CsvRole role = CsvRole::unused;
    bool categorical = false;
    std::int64_t missing = 0;

    // Numeric. The deviation divides by the number of values.
    double lowest = 0, mean = 0, highest = 0, deviation = 0;
    std::vector<std::int64_t> histogram{};  ///< 20 equal bins from lowest to highest

    // Categorical.
    std::vector<Category> categories{};  ///< the most frequent first, at most 20
    std::int64_t different = 0;
    bool more_different = false;  ///< counting stopped: there may be more than `different`
};

/// Counts histograms and categories in a second pass, in bounded memory.
class CsvPreview {
public:
    CsvPreview(const CsvScan& scan, const CsvLayout& layout);

    void add_number(std::size_t column, double number);
    void add_word(std::size_t column, std::string_view word);
    std::vector<CsvColumn> finish();

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Counts = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;

    std::vector<CsvColumn> columns_;
    std::vector<Counts> words_;
    std::size_t word_bytes_ = 0;  // of all columns
};

}  // namespace engine
