#include "data/csv/csv_preview.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/csv/csv_text.h"

namespace engine {
namespace {

constexpr std::size_t max_word_bytes = std::size_t{64} << 20;
constexpr std::size_t word_overhead = 64;  // of an entry of the map

CsvColumn describe(const CsvScan& scan, const CsvLayout& layout, std::size_t i) {
    const CsvColumnScan& found = scan.columns[i];
    CsvColumn column{
        .name = scan.names[i],
        .role = layout.roles[i],
        .categorical = layout.forms[i].categorical,
        .missing = layout.forms[i].keeps_missing_words ? found.empty.count : found.missing()};
    if (column.categorical) return column;
    column.missing += found.present() - found.numbers;
    column.lowest = found.lowest;
    column.mean = found.mean;
    column.highest = found.highest;
    column.deviation = std::sqrt(found.squared_offset / static_cast<double>(found.numbers));
    column.histogram.resize(csv_histogram_bins);
    return column;
}

}  // namespace

CsvPreview::CsvPreview(const CsvScan& scan, const CsvLayout& layout) : words_(scan.columns.size()) {
    for (std::size_t i = 0; i < scan.columns.size(); ++i)
        columns_.push_back(describe(scan, layout, i));
}

void CsvPreview::add_number(std::size_t column, double number) {
    CsvColumn& out = columns_[column];
    const double width = out.highest - out.lowest;
    const double place = width > 0 ? (number - out.lowest) / width * csv_histogram_bins : 0;
    // The highest value belongs to the last bin. A file that changes between the passes may hold
    // values outside the range.
    const double bin = std::clamp(place, 0.0, csv_histogram_bins - 1.0);
    ++out.histogram[static_cast<std::size_t>(bin)];
}

void CsvPreview::add_word(std::size_t column, std::string_view word) {
    Counts& counts = words_[column];
    if (const auto found = counts.find(word); found != counts.end()) {
        ++found->second;
        return;
    }
    if (counts.size() == max_csv_counted_categories ||
        word_bytes_ + word.size() + word_overhead > max_word_bytes) {
        columns_[column].more_different = true;
        return;
    }
    word_bytes_ += word.size() + word_overhead;
    counts.emplace(word, 1);
}

std::vector<CsvColumn> CsvPreview::finish() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::vector<std::pair<std::string_view, std::int64_t>> sorted(words_[i].begin(),
                                                                      words_[i].end());
        std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        columns_[i].different = static_cast<std::int64_t>(sorted.size());
        for (std::size_t k = 0; k < std::min(sorted.size(), max_csv_shown_categories); ++k) {
            columns_[i].categories.push_back(
                {shortened(sorted[k].first, max_shown_characters), sorted[k].second});
        }
    }
    return std::move(columns_);
}

}  // namespace engine
