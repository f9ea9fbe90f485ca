#include "cpu/pool_double.h"

#include <cmath>

namespace kernels::cpu {
namespace wide {
namespace {

using I = std::int64_t;

/// One channel, as the formulas reach it.
struct Channel {
    double load(const double* p) const { return *p; }
    void store(double v, double* p) const { *p = v; }
};
I load_index(const std::int32_t* p, Channel) { return *p; }
void store_index(I v, std::int32_t* p, Channel) { *p = static_cast<std::int32_t>(v); }
double value_of(I v, Channel) { return static_cast<double>(v); }
I index_of(I i, Channel) { return i; }

bool beats(double v, double most, I best) { return best < 0 || v > most || std::isnan(v); }
template <class V>
V choose(bool wins, V a, V b) {
    return wins ? a : b;
}
double value_where(I index, I place, double v) { return index == place ? v : 0; }
template <class F>
void for_each_channels(I n, const F& f) {
    for (I c = 0; c < n; ++c) f(c, Channel());
}

#define HALFTONE_FORMULA
#define HALFTONE_FORMULA_LAMBDA
#include "cpu/pool_windows.inc"
#undef HALFTONE_FORMULA_LAMBDA
#undef HALFTONE_FORMULA

/// One sum over the window, where vectors have one a line.
void avg_pool_pixel(double* y, const double* x, const PoolPlan& plan, I oh, I ow) {
    const Taps rows = plan.rows.taps(oh), cols = plan.cols.taps(ow);
    for (I c = 0; c < plan.c; ++c) {
        double sum = 0;
        for (I h = rows.first; h < rows.last; h += rows.step)
            for (I w = cols.first; w < cols.last; w += cols.step)
                sum += x[(h * plan.cols.in() + w) * plan.c + c];
        y[c] = sum / static_cast<double>(plan.divisor(oh, ow));
    }
}

}  // namespace
}  // namespace wide

void max_pool_rows_double(double* y, std::int32_t* index, const double* x, const PoolPlan& plan,
                          std::int64_t begin, std::int64_t end) {
    wide::max_pool_rows(y, index, x, plan, begin, end);
}

void max_unpool_rows_double(double* dx, const double* dy, const std::int32_t* index,
                            const PoolPlan& plan, std::int64_t begin, std::int64_t end) {
    wide::max_unpool_rows(dx, dy, index, plan, begin, end);
}

void avg_pool_rows_double(double* y, const double* x, const PoolPlan& plan, std::int64_t begin,
                          std::int64_t end) {
    wide::for_each_line(plan.rows.out(), begin, end, [&](std::int64_t n, std::int64_t oh) {
        for (std::int64_t ow = 0; ow < plan.cols.out(); ++ow)
            wide::avg_pool_pixel(y + n * plan.out_image() + (oh * plan.cols.out() + ow) * plan.c,
                                 x + n * plan.in_image(), plan, oh, ow);
    });
}

void avg_unpool_rows_double(double* dx, const double* dy, const PoolPlan& plan, std::int64_t begin,
                            std::int64_t end) {
    wide::for_each_line(plan.rows.in(), begin, end, [&](std::int64_t n, std::int64_t h) {
        for (std::int64_t w = 0; w < plan.cols.in(); ++w)
            wide::avg_unpool_pixel(dx + n * plan.in_image() + (h * plan.cols.in() + w) * plan.c,
                                   dy + n * plan.out_image(), plan, plan.rows.covering(h),
                                   plan.cols.covering(w));
    });
}

}  // namespace kernels::cpu
