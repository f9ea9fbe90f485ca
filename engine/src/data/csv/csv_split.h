#pragma once

#include <cstdint>
#include <vector>

namespace engine {

/// Rows of a table by part, each in ascending order.
struct CsvSplit {
    std::vector<std::int64_t> train, validation, test;
};

/// Draws round(test_share * rows) test rows, then round(validation_share * the others) validation
/// rows, by the seed: the same on every machine.
CsvSplit split_csv_rows(std::int64_t rows, double test_share, double validation_share,
                        std::int64_t seed);

}  // namespace engine
