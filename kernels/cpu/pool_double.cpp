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

/// f(h, w) for the inputs that an output sees.
template <class F>
void for_each_tap(const PoolPlan& plan, std::int64_t oh, std::int64_t ow, const F& f) {
    const Taps th = plan.rows.taps(oh), tw = plan.cols.taps(ow);
    for (std::int64_t h = th.first; h < th.last; h += th.step)
        for (std::int64_t w = tw.first; w < tw.last; w += tw.step) f(h, w);
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
                             if (best >= 0 && !(v > most || (std::isnan(v) && !std::isnan(most))))
                                 return;
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
            plan.rows.covering(h, [&](I oh) {
                plan.cols.covering(w, [&](I ow) {
                    const I from = n * plan.out_image() + (oh * plan.cols.out() + ow) * plan.c + c;
                    if (index[from] == h * plan.cols.in() + w) sum += dy[from];
                });
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
            plan.rows.covering(h, [&](I oh) {
                plan.cols.covering(w, [&](I ow) {
                    const I from = n * plan.out_image() + (oh * plan.cols.out() + ow) * plan.c + c;
                    sum += dy[from] / static_cast<double>(plan.divisor(oh, ow));
                });
            });
            dx[at] = sum;
        });
}

}  // namespace kernels::cpu
