#include "cpu/softmax_double.h"

#include <cmath>
#include <type_traits>

#include "cpu/formula_double.h"

namespace kernels::cpu {
namespace wide {
namespace {

#define HALFTONE_FORMULA
#include "cpu/softmax_formulas.inc"
#undef HALFTONE_FORMULA

}  // namespace
}  // namespace wide

namespace {

/// f(T{}) with T the stored type of a floating dtype.
template <class F>
void with_floating(DType dtype, const F& f) {
    with_type(dtype, [&](auto type) {
        if constexpr (std::is_same_v<decltype(widen(type)), double>) f(type);
    });
}

double row_max(const double* x, std::int64_t n) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) most = x[i] > most ? x[i] : most;
    return most;
}

double exp_sum(const double* x, std::int64_t n, double max) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - max);
    return sum;
}

}  // namespace

void softmax_rows_double(Array y, ConstArray x, std::int64_t cols, SoftmaxForm form,
                         std::int64_t begin, std::int64_t end) {
    const bool log = form == SoftmaxForm::log;
    for (std::int64_t row = begin; row < end; ++row) {
        const double* in = static_cast<const double*>(x.data) + row * cols;
        double* out = static_cast<double*>(y.data) + row * cols;
        const double most = row_max(in, cols);
        if (form == SoftmaxForm::masked && all_masked(in, cols, most)) {
            std::fill(out, out + cols, 0.0);
            continue;
        }
        const double sum = exp_sum(in, cols, most);
        const double log_sum = std::log(sum);
        for (std::int64_t c = 0; c < cols; ++c)
            out[c] = log ? wide::log_probability(in[c], most, log_sum)
                         : wide::probability(in[c], most, sum);
    }
}

void softmax_backward_rows_double(Array dx, ConstArray dy, ConstArray y, std::int64_t cols,
                                  bool log, std::int64_t begin, std::int64_t end) {
    with_floating(dx.dtype, [&]<typename T>(T) {
        for (std::int64_t row = begin; row < end; ++row) {
            const double* g = static_cast<const double*>(dy.data) + row * cols;
            const double* out = static_cast<const double*>(y.data) + row * cols;
            T* to = static_cast<T*>(dx.data) + row * cols;
            double sum = 0;
            for (std::int64_t c = 0; c < cols; ++c) sum += log ? g[c] : g[c] * out[c];
            for (std::int64_t c = 0; c < cols; ++c)
                to[c] = narrow<T>(log ? wide::log_probability_gradient(g[c], out[c], sum)
                                      : wide::probability_gradient(g[c], out[c], sum));
        }
    });
}

void cross_entropy_forward_rows_double(Array stats, Array losses, ConstArray logits,
                                       ConstArray target, std::int64_t cols,
                                       std::int64_t ignore_index, std::int64_t begin,
                                       std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t label = static_cast<const std::int64_t*>(target.data)[row];
        double* kept = static_cast<double*>(stats.data) + 2 * row;
        double& loss = static_cast<double*>(losses.data)[row];
        kept[0] = kept[1] = loss = 0;
        if (label == ignore_index) continue;
        const double* in = static_cast<const double*>(logits.data) + row * cols;
        kept[0] = row_max(in, cols);
        kept[1] = std::log(exp_sum(in, cols, kept[0]));
        loss = -wide::log_probability(in[label], kept[0], kept[1]);
    }
}

void cross_entropy_backward_rows_double(Array dlogits, ConstArray scale, ConstArray logits,
                                        ConstArray stats, ConstArray target, std::int64_t cols,
                                        std::int64_t ignore_index, std::int64_t begin,
                                        std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t label = static_cast<const std::int64_t*>(target.data)[row];
        const double factor = static_cast<const double*>(scale.data)[scale.size == 1 ? 0 : row];
        const double* kept = static_cast<const double*>(stats.data) + 2 * row;
        const double* in = static_cast<const double*>(logits.data) + row * cols;
        double* out = static_cast<double*>(dlogits.data) + row * cols;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double log_prob = wide::log_probability(in[c], kept[0], kept[1]);
            const double g = wide::cross_entropy_gradient(log_prob, c == label ? 1.0 : 0.0, factor);
            out[c] = label == ignore_index ? 0.0 : g;
        }
    }
}

}  // namespace kernels::cpu
