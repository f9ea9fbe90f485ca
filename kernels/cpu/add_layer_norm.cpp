#include "kernels/add_layer_norm.h"

#include <cassert>

#include "cpu/add_rows.h"
#include "cpu/layer_norm_chunks.h"

namespace kernels::cpu {
namespace {

/// Elements of each operand that one piece of the forward pass takes up: they stay in the
/// first-level cache from the sum to the norm.
constexpr std::int64_t piece = 2048;

/// f(begin, end) for [begin, end) in pieces of `rows`.
template <class F>
void in_pieces(std::int64_t begin, std::int64_t end, std::int64_t rows, const F& f) {
    for (std::int64_t first = begin; first < end; first += rows)
        f(first, std::min(end, first + rows));
}

}  // namespace

void add_layer_norm_forward(Array sum, Array y, Array mean, Array rstd, ConstArray x,
                            ConstArray around, ConstArray weight, ConstArray bias,
                            const LayerNormShape& shape, Stream) {
    assert(sum.size == shape.rows * shape.cols && y.size == sum.size && x.size == sum.size);
    assert(y.dtype == sum.dtype && around.dtype == sum.dtype && !shape.rms);
    const auto with = layer_norm_rows_with<float>(mean.data, rstd.data, weight, bias.data, shape);
    const std::int64_t cols = shape.cols;
    const std::int64_t rows = std::max<std::int64_t>(1, piece / std::max<std::int64_t>(cols, 1));
    parallel_for(shape.rows, row_grain(cols), [&](std::int64_t begin, std::int64_t end) {
        in_pieces(begin, end, rows, [&](std::int64_t first, std::int64_t last) {
            add_range(sum, x, around, first * cols, last * cols);
            layer_norm_rows(y, sum, with, first, last);
        });
    });
}

void add_layer_norm_backward(const AddLayerNormGradients& to, ConstArray beside, ConstArray dy,
                             ConstArray sum, ConstArray weight, ConstArray mean, ConstArray rstd,
                             const LayerNormShape& shape, Stream) {
    assert(sum.size == shape.rows * shape.cols && to.dsum.size == sum.size);
    assert(to.dsum.dtype == sum.dtype && !shape.rms);
    // The rows only read them here.
    const auto with = layer_norm_rows_with<float>(
        const_cast<void*>(mean.data), const_cast<void*>(rstd.data), weight, nullptr, shape);
    const std::int64_t cols = shape.cols;
    sum_layer_norm_gradients<float>(
        to.dweight, to.dbias, shape, [&](double* sums, std::int64_t begin, std::int64_t end) {
            in_pieces(begin, end, layer_norm_block, [&](std::int64_t first, std::int64_t last) {
                layer_norm_gradient_rows(to.dsum, sums, dy, sum, with, first, last);
                if (beside.data != nullptr)
                    add_range(to.dsum, beside, to.dsum, first * cols, last * cols);
                if (to.dx.data != nullptr) convert_range(to.dx, to.dsum, first * cols, last * cols);
            });
        });
}

}  // namespace kernels::cpu
