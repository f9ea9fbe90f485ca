#include <cmath>

#include "cpu/formula_double.h"
#include "cpu/layer_norm_rows.h"

namespace kernels::cpu {
namespace wide {
namespace {

#define HALFTONE_FORMULA
#include "cpu/norm_formulas.inc"
#undef HALFTONE_FORMULA

}  // namespace
}  // namespace wide

namespace {

double weight_of(const LayerNormRowsF64& with, std::int64_t c) {
    return with.weight != nullptr ? with.weight[c] : 1;
}

double row_mean(const double* x, std::int64_t cols) {
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += x[c];
    return sum / static_cast<double>(cols);
}

}  // namespace

void layer_norm_rows(Array y, ConstArray x, const LayerNormRowsF64& with, std::int64_t begin,
                     std::int64_t end) {
    const std::int64_t cols = with.cols;
    for (std::int64_t row = begin; row < end; ++row) {
        const double* in = static_cast<const double*>(x.data) + row * cols;
        double* out = static_cast<double*>(y.data) + row * cols;
        const double mean = with.mean != nullptr ? row_mean(in, cols) : 0;
        double squares = 0;
        for (std::int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
        const double rstd = 1 / std::sqrt(squares / static_cast<double>(cols) + with.eps);
        if (with.mean != nullptr) with.mean[row] = mean;
        with.rstd[row] = rstd;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double shift = with.bias != nullptr ? with.bias[c] : 0;
            out[c] = wide::layer_normalized(in[c], mean, rstd) * weight_of(with, c) + shift;
        }
    }
}

void layer_norm_gradient_rows(Array dx, double* sums, ConstArray dy, ConstArray x,
                              const LayerNormRowsF64& with, std::int64_t begin, std::int64_t end) {
    const std::int64_t cols = with.cols;
    for (std::int64_t row = begin; row < end; ++row) {
        const double* in = static_cast<const double*>(x.data) + row * cols;
        const double* above = static_cast<const double*>(dy.data) + row * cols;
        double* out = static_cast<double*>(dx.data) + row * cols;
        const double mean = with.mean != nullptr ? with.mean[row] : 0, rstd = with.rstd[row];
        double sum_g = 0, sum_gx = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double g = above[c] * weight_of(with, c);
            sum_g += g;
            sum_gx += g * (in[c] - mean) * rstd;
        }
        const double shift = with.mean != nullptr ? sum_g / static_cast<double>(cols) : 0;
        const double slope = sum_gx / static_cast<double>(cols);
        for (std::int64_t c = 0; c < cols; ++c) {
            const double normal = wide::layer_normalized(in[c], mean, rstd), dy_c = above[c];
            if (sums != nullptr) {
                sums[c] += dy_c * normal;
                sums[cols + c] += dy_c;
            }
            out[c] =
                wide::layer_norm_gradient(dy_c * weight_of(with, c), normal, rstd, shift, slope);
        }
    }
}

}  // namespace kernels::cpu
