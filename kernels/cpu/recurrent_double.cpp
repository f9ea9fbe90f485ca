#include "cpu/formula_double.h"
#include "cpu/recurrent_rows.h"

namespace kernels::cpu {
namespace wide {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double tanh_of(double x) { return std::tanh(x); }
double tanh_slope(double y) { return 1 - y * y; }
double one_minus(double x) { return 1 - x; }
double relu_pass(double x, double v) { return x <= 0 ? 0 : v; }

struct Element {
    double load(const double* p) const { return *p; }
    void store(double v, double* p) const { *p = v; }
};
double load_or_zero(const double* p, std::int64_t i, const Element&) {
    return p == nullptr ? 0 : p[i];
}

#define HALFTONE_FORMULA
#include "shared/recurrent_cells.inc"
#undef HALFTONE_FORMULA

/// f(column) for every column of the rows.
template <class F>
void for_each_column(const RecurrentShape& shape, std::int64_t begin, std::int64_t end,
                     const F& f) {
    const std::int64_t n = shape.hidden, width = gates_of(shape.cell) * n;
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t i = 0; i < n; ++i) f(StepColumn{n, row * width + i, row * n + i});
}

}  // namespace
}  // namespace wide

void recurrent_rows_double(const RecurrentStep& step, std::int64_t begin, std::int64_t end) {
    const auto arrays = step.arrays<double>();
    wide::for_each_column(step.shape, begin, end, [&](const StepColumn& at) {
        wide::forward_column(step.shape.cell, arrays, at, wide::Element());
    });
}

void recurrent_gradient_rows_double(const RecurrentGradient& step, std::int64_t begin,
                                    std::int64_t end) {
    const auto arrays = step.arrays<double>();
    wide::for_each_column(step.shape, begin, end, [&](const StepColumn& at) {
        wide::gradient_column(step.shape.cell, arrays, at, wide::Element());
    });
}

}  // namespace kernels::cpu
