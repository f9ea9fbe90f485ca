#include "shared/reduce_integers.h"

#include "cpu/grain.h"
#include "cpu/reduce_part.h"
#include "kernels/parallel.h"

namespace kernels::cpu {

void reduce_integers(Array y, ConstArray x, std::int64_t n, std::int64_t inner, ReduceOp op) {
    const auto* from = static_cast<const std::int64_t*>(x.data);
    auto* to = static_cast<std::int64_t*>(y.data);
    parallel_for(y.size, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t* column = from + i / inner * n * inner + i % inner;
            std::int64_t value = integer::neutral(op);
            for (std::int64_t k = 0; k < n; ++k)
                value = integer::joined(op, value, column[k * inner]);
            to[i] = value;
        }
    });
}

}  // namespace kernels::cpu
