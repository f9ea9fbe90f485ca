#include <algorithm>
#include <vector>

#include "cuda/block_reduce.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/reduce.cuh"
#include "cuda/workspace.h"

namespace kernels::cuda {
namespace {

/// A block for each result.
__global__ void integer_block_kernel(std::int64_t* y, const std::int64_t* x, std::int64_t n,
                                     std::int64_t inner, std::int64_t results, ReduceOp op) {
    for (std::int64_t i = blockIdx.x; i < results; i += gridDim.x) {
        const std::int64_t* column = x + i / inner * n * inner + i % inner;
        std::int64_t value = integer::neutral(op);
        for (std::int64_t k = threadIdx.x; k < n; k += reduce_threads)
            value = integer::joined(op, value, column[k * inner]);
        value = block_reduce<reduce_threads>(
            value, [op](std::int64_t a, std::int64_t b) { return integer::joined(op, a, b); });
        if (threadIdx.x == 0) y[i] = value;
    }
}

/// A thread for each result.
__global__ void integer_thread_kernel(std::int64_t* y, const std::int64_t* x, std::int64_t n,
                                      std::int64_t inner, std::int64_t results, ReduceOp op) {
    for (std::int64_t i = grid_thread(); i < results; i += grid_threads()) {
        const std::int64_t* column = x + i / inner * n * inner + i % inner;
        std::int64_t value = integer::neutral(op);
        for (std::int64_t k = 0; k < n; ++k)
            value = integer::joined(op, value, column[k * inner]);
        y[i] = value;
    }
}

/// x and y of i64.
void reduce_integers(Array y, ConstArray x, std::int64_t n, std::int64_t inner, ReduceOp op,
                     Stream stream) {
    auto* to = static_cast<std::int64_t*>(y.data);
    const auto* from = static_cast<const std::int64_t*>(x.data);
    if (n <= 64 || y.size >= 16384)
        launch("reduce", integer_thread_kernel, grid_for(y.size), stream, to, from, n, inner,
               y.size, op);
    else
        launch("reduce", integer_block_kernel, reduce_grid(y.size), stream, to, from, n, inner,
               y.size, op);
}

/// How a pass is cut up: by the shape alone, so that every device adds in the same order.
struct Cut {
    enum class Way { thread, row, column } way;
    std::int64_t rows, chunks;
};

Cut make_cut(std::int64_t outer, std::int64_t n, std::int64_t inner) {
    const bool side_by_side = inner > 1 && outer * inner >= 16384;
    if (n <= 8 || (side_by_side && n <= 128)) return {Cut::Way::thread, n, 1};
    const std::int64_t width = std::min<std::int64_t>(inner, reduce_columns);
    // Rows that a block takes at a time, where each of its threads takes one element.
    const std::int64_t step = reduce_threads / width;
    const std::int64_t blocks = outer * ((inner + width - 1) / width);
    const std::int64_t wanted = std::max<std::int64_t>(1, 256 / blocks);
    const std::int64_t even = (n + wanted - 1) / wanted;
    const std::int64_t rows = std::clamp((even + step - 1) / step * step, 16 * step, 128 * step);
    const std::int64_t chunks = (n + rows - 1) / rows;
    return {inner == 1 ? Cut::Way::row : Cut::Way::column, rows, chunks};
}

void start(const ReducePass& pass, Cut::Way way, Stream stream) {
    switch (way) {
        case Cut::Way::thread:
            return reduce_by_thread(pass, stream);
        case Cut::Way::row:
            return reduce_by_row(pass, stream);
        case Cut::Way::column:
            return reduce_by_column(pass, stream);
    }
}

}  // namespace

void reduce(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
            ReduceOp op, Stream stream) {
    assert(x.size == outer * n * inner && y.size == outer * inner);
    if (y.size == 0) return;
    if (x.dtype == DType::i64) return reduce_integers(y, x, n, inner, op, stream);
    std::vector<Cut> cuts{make_cut(outer, n, inner)};
    while (cuts.back().chunks > 1) cuts.push_back(make_cut(outer, cuts.back().chunks, inner));

    const bool wide = x.dtype == DType::f64 || y.dtype == DType::f64;
    const DType between = wide ? DType::f64 : DType::f32;
    WorkspaceParts parts;
    std::vector<std::size_t> starts;
    for (const Cut& cut : cuts) {
        const std::int64_t results = cut.chunks > 1 ? y.size * cut.chunks : 0;
        starts.push_back(parts.take(static_cast<std::size_t>(results) * size_of(between)));
    }
    char* scratch = nullptr;
    if (cuts.size() > 1) scratch = static_cast<char*>(workspace(parts.total(), stream));

    ReducePass pass{{}, x, outer, n, inner, 0, 0, op, wide};
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        const bool last = i + 1 == cuts.size();
        pass.rows = cuts[i].rows;
        pass.chunks = cuts[i].chunks;
        pass.y = last ? ReduceTarget{y.data, y.dtype, op, static_cast<double>(n)}
                      : ReduceTarget{scratch + starts[i], between, ReduceOp::sum, 0};
        start(pass, cuts[i].way, stream);
        pass.x = ConstArray(pass.y.data, between, y.size * pass.chunks);
        pass.n = pass.chunks;
        pass.op = joining(op);
    }
}

}  // namespace kernels::cuda
