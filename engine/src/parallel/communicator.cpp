#include "parallel/communicator.h"

namespace engine {

std::vector<std::int64_t> gather_counts(Communicator& line, std::int64_t mine) {
    const auto size = static_cast<std::size_t>(line.size());
    std::vector<std::int64_t> all(size);
    const std::vector<std::int64_t> ones(size, 1);
    line.gather({all.data(), kernels::DType::i64, line.size()}, {&mine, kernels::DType::i64, 1},
                ones);
    return all;
}

bool any(Communicator& line, bool mine) {
    std::int64_t count = mine ? 1 : 0;
    line.sum({&count, kernels::DType::i64, 1});
    return count > 0;
}

}  // namespace engine
