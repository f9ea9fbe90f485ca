#include "data/csv/csv_split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tensor/philox.h"

namespace engine {

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

}  // namespace engine
