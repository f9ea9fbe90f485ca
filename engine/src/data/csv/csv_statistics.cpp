#include "data/csv/csv_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "data/csv/csv_text.h"
#include "engine/base/error.h"
#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::size_t max_named = 5;

/// A column within row-major values.
struct Column {
    std::span<const float> values;
    std::size_t first = 0;
    std::size_t stride = 1;

    float operator[](std::int64_t row) const {
        return values[static_cast<std::size_t>(row) * stride + first];
    }
};

Column feature_column(const CsvTable& table, std::size_t feature) {
    return {table.cells, feature, table.features.size()};
}

Column target_column(const CsvTable& table) { return {table.target_values}; }

/// Mean of the values that are present.
double mean_of(const Column& column, std::span<const std::int64_t> rows, std::int64_t& count) {
    double sum = 0;
    count = 0;
    for (const auto row : rows) {
        if (std::isnan(column[row])) continue;
        sum += static_cast<double>(column[row]);
        ++count;
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

bool is_constant(const Column& column, std::span<const std::int64_t> rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](std::int64_t row) { return column[row] == column[rows.front()]; });
}

void add_statistics(Normalization& out, const Column& column, std::span<const std::int64_t> rows) {
    std::int64_t count = 0;
    const double mean = mean_of(column, rows, count);
    double squares = 0;
    for (const auto row : rows) {
        const double offset = static_cast<double>(column[row]) - mean;
        squares += offset * offset;
    }
    const auto deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(count)));
    // The mean of equal values may be off by a rounding, which would pass for a deviation.
    const bool constant = is_constant(column, rows) || !(deviation > 0);
    out.mean.push_back(static_cast<float>(mean));
    out.deviation.push_back(constant ? 1 : deviation);
}

float fill_of(const CsvTable& table, std::size_t feature, std::span<const std::int64_t> train,
              const std::string& file) {
    const Column column = feature_column(table, feature);
    std::int64_t count = 0;
    const double mean = mean_of(column, train, count);
    if (count == 0) {
        throw Error(ErrorCode::data,
                    msg("{}: column \"{}\" has no value in the training rows", file,
                        shortened(table.features[feature].name)),
                    msg("Leave the column out with dataset.without."));
    }
    if (!table.features[feature].categorical()) return static_cast<float>(mean);
    std::vector<std::int64_t> frequency(table.features[feature].categories.size());
    for (const auto row : train) {
        if (!std::isnan(column[row])) ++frequency[static_cast<std::size_t>(column[row])];
    }
    const auto most = std::max_element(frequency.begin(), frequency.end());
    return static_cast<float>(most - frequency.begin());
}

void warn_of_constants(std::vector<Message>& warnings, const CsvTable& table,
                       std::span<const std::int64_t> train) {
    std::vector<std::string> constant;
    for (std::size_t f = 0; f < table.features.size(); ++f) {
        if (is_constant(feature_column(table, f), train))
            constant.push_back(shortened(table.features[f].name));
    }
    if (constant.empty()) return;
    warnings.push_back(msg("feature columns that never change in the training rows: {} ({})",
                           constant.size(), listed(constant, max_named)));
}

void warn_of_classes(std::vector<Message>& warnings, const CsvTable& table,
                     std::span<const std::int64_t> train) {
    std::vector<bool> present(table.classes.size());
    for (const auto row : train)
        present[static_cast<std::size_t>(table.labels[static_cast<std::size_t>(row)])] = true;
    std::vector<std::string> absent;
    for (std::size_t i = 0; i < present.size(); ++i) {
        if (!present[i]) absent.push_back(shortened(table.classes[i]));
    }
    if (table.classes.size() == 1)
        warnings.push_back(msg("the target has a single class: {}", shortened(table.classes[0])));
    if (absent.empty()) return;
    warnings.push_back(msg("classes without a training row: {} of {} ({})", absent.size(),
                           table.classes.size(), listed(absent, max_named)));
}

}  // namespace

CsvSplit split_csv_rows(std::int64_t rows, double test_share, double validation_share,
                        std::int64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const RandomStream random(seed, StreamId::split, 0);
    PhiloxBlock words{};
    std::size_t drawn = 0;
    for (std::size_t left = order.size(); left > 1; --left, ++drawn) {
        if (drawn % 4 == 0) words = random.block(drawn / 4);
        const auto chosen =
            RandomStream::to_bounded(words[drawn % 4], static_cast<std::uint32_t>(left));
        std::swap(order[left - 1], order[chosen]);
    }
    const auto share_of = [](double share, std::int64_t count) {
        return std::llround(share * static_cast<double>(count));
    };
    const auto test_end = order.begin() + share_of(test_share, rows);
    const auto validation_end =
        test_end + share_of(validation_share, rows - (test_end - order.begin()));
    CsvSplit split{.train = {validation_end, order.end()},
                   .validation = {test_end, validation_end},
                   .test = {order.begin(), test_end}};
    std::sort(split.train.begin(), split.train.end());
    std::sort(split.validation.begin(), split.validation.end());
    std::sort(split.test.begin(), split.test.end());
    return split;
}

void fill_missing_cells(CsvTable& table, std::span<const std::int64_t> train,
                        const std::string& file) {
    const std::size_t count = table.features.size();
    for (std::size_t f = 0; f < count; ++f) {
        table.features[f].usual = fill_of(table, f, train, file);
        for (std::size_t at = f; at < table.cells.size(); at += count) {
            if (std::isnan(table.cells[at])) table.cells[at] = table.features[f].usual;
        }
    }
}

Normalization feature_statistics(const CsvTable& table, std::span<const std::int64_t> train) {
    Normalization out;
    for (std::size_t f = 0; f < table.features.size(); ++f) {
        if (table.features[f].categorical()) {
            out.mean.resize(out.mean.size() + table.features[f].width(), 0.0F);
            out.deviation.resize(out.deviation.size() + table.features[f].width(), 1.0F);
        } else {
            add_statistics(out, feature_column(table, f), train);
        }
    }
    return out;
}

Normalization target_statistics(const CsvTable& table, std::span<const std::int64_t> train) {
    Normalization out;
    add_statistics(out, target_column(table), train);
    return out;
}

std::vector<Message> training_warnings(const CsvTable& table, std::span<const std::int64_t> train) {
    std::vector<Message> warnings;
    warn_of_constants(warnings, table, train);
    // Whole numbers can be classes, too, but are usually a value to predict.
    if (table.target_values.empty()) {
        warn_of_classes(warnings, table, train);
    } else if (is_constant(target_column(table), train)) {
        warnings.push_back(msg("the target never changes in the training rows"));
    }
    return warnings;
}

}  // namespace engine
