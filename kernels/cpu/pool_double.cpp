#include "cpu/pool_double.h"

#include <cmath>

namespace kernels::cpu {
namespace {

/// f(image, row, col, channel, offset in the block) for each element of rows of `axis` lengths.
template <class F>
void for_each_element(std::int64_t begin, std::int64_t end, std::int64_t rows, std::int64_t cols,
                      std::int64_t channels, const F& f) {
    for (std::int64_t line = begin; line < end; ++line)
        for (std::int64_t w = 0; w < cols; ++w)
            for (std::int64_t c = 0; c < channels; ++c)
                f(line / rows, line % rows, w, c, (line * cols + w) * channels + c);
}

template <class F>
void for_each_pair(const Taps& rows, const Taps& cols, const F& f) {
    for (std::int64_t h = rows.first; h < rows.last; h += rows.step)
        for (std::int64_t w = cols.first; w < cols.last; w += cols.step) f(h, w);
}

/// f(h, w) for the inputs that an output sees.
template <class F>
void for_each_tap(const PoolPlan& plan, std::int64_t oh, std::int64_t ow, const F& f) {
    for_each_pair(plan.rows.taps(oh), plan.cols.taps(ow), f);
}

/// f(oh, ow) for the outputs that see an input.
template <class F>
void for_each_cover(const PoolPlan& plan, std::int64_t h, std::int64_t w, const F& f) {
    for_each_pair(plan.rows.covering(h), plan.cols.covering(w), f);
}

}  // namespace

void max_pool_rows_double(double* y, std::int32_t* index, const double* x, const PoolPlan& plan,
                          std::int64_t begin, std::int64_t end) {
    using I = std::int64_t;
    for_each_element(begin, end, plan.rows.out(), plan.cols.out(), plan.c,
                     [&](I n, I oh, I ow, I c, I at) {
                         I best = -1;
                         double most = 0;
                         for_each_tap(plan, oh, ow, [&](I h, I w) {
                             const I place = h * plan.cols.in() + w;
                             const double v = x[n * plan.in_image() + place * plan.c + c];
                             if (best >= 0 && !(v > most || std::isnan(v))) return;
                             most = v;
                             best = place;
                         });
                         y[at] = most;
                         index[at] = static_cast<std::int32_t>(best);
                     });
}

void max_unpool_rows_double(double* dx, const double* dy, const std::int32_t* index,
                            const PoolPlan& plan, std::int64_t begin, std::int64_t end) {
    using I = std::int64_t;
    for_each_element(
        begin, end, plan.rows.in(), plan.cols.in(), plan.c, [&](I n, I h, I w, I c, I at) {
            double sum = 0;
            for_each_cover(plan, h, w, [&](I oh, I ow) {
                const I from = n * plan.out_image() + (oh * plan.cols.out() + ow) * plan.c + c;
                if (index[from] == h * plan.cols.in() + w) sum += dy[from];
            });
            dx[at] = sum;
        });
}

void avg_pool_rows_double(double* y, const double* x, const PoolPlan& plan, std::int64_t begin,
                          std::int64_t end) {
    using I = std::int64_t;
    for_each_element(begin, end, plan.rows.out(), plan.cols.out(), plan.c,
                     [&](I n, I oh, I ow, I c, I at) {
                         double sum = 0;
                         for_each_tap(plan, oh, ow, [&](I h, I w) {
                             const I place = h * plan.cols.in() + w;
                             sum += x[n * plan.in_image() + place * plan.c + c];
                         });
                         y[at] = sum / static_cast<double>(plan.divisor(oh, ow));
                     });
}

void avg_unpool_rows_double(double* dx, const double* dy, const PoolPlan& plan, std::int64_t begin,
                            std::int64_t end) {
    using I = std::int64_t;
    for_each_element(
        begin, end, plan.rows.in(), plan.cols.in(), plan.c, [&](I n, I h, I w, I c, I at) {
            double sum = 0;
            for_each_cover(plan, h, w, [&](I oh, I ow) {
                const I from = n * plan.out_image() + (oh * plan.cols.out() + ow) * plan.c + c;
                sum += dy[from] / static_cast<double>(plan.divisor(oh, ow));
            });
            dx[at] = sum;
        });
}

}  // namespace kernels::cpu
