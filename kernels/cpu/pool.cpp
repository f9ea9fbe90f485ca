#include "kernels/pool.h"

#include <algorithm>
#include <cassert>

#include "cpu/grain.h"
#include "cpu/pool_axis.h"
#include "cpu/pool_double.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pool.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

using VI = hn::Vec<DI>;
using I = std::int64_t;

HWY_INLINE VI load_index(const std::int32_t* p, Whole) { return hn::LoadU(DI(), p); }
HWY_INLINE VI load_index(const std::int32_t* p, Part part) {
    HWY_ALIGN std::int32_t lane[HWY_MAX_BYTES / sizeof(std::int32_t)];
    std::fill(std::copy_n(p, part.n, lane), lane + lane_count(), -1);
    return hn::Load(DI(), lane);
}
HWY_INLINE void store_index(VI v, std::int32_t* p, Whole) { hn::StoreU(v, DI(), p); }
HWY_INLINE void store_index(VI v, std::int32_t* p, Part part) {
    HWY_ALIGN std::int32_t lane[HWY_MAX_BYTES / sizeof(std::int32_t)];
    hn::Store(v, DI(), lane);
    std::copy_n(lane, part.n, p);
}

template <class P>
HWY_INLINE VF value_of(I v, P) {
    return hn::Set(DF(), static_cast<float>(v));
}
template <class P>
HWY_INLINE VI index_of(I i, P) {
    return hn::Set(DI(), static_cast<std::int32_t>(i));
}
HWY_INLINE hn::Mask<DF> beats(VF v, VF most, VI best) {
    // v wins unless v <= most (never true for NaN), or v is a number and `most` is NaN. (Ne would
    // not do: with AVX it is an ordered comparison, false for NaN.)
    const auto loses = hn::Or(hn::Le(v, most), hn::AndNot(hn::Eq(most, most), hn::Eq(v, v)));
    const auto first = hn::RebindMask(DF(), hn::Lt(best, hn::Zero(DI())));
    return hn::Or(first, hn::Not(loses));
}
HWY_INLINE VF choose(hn::Mask<DF> wins, VF a, VF b) { return hn::IfThenElse(wins, a, b); }
HWY_INLINE VI choose(hn::Mask<DF> wins, VI a, VI b) {
    return hn::IfThenElse(hn::RebindMask(DI(), wins), a, b);
}
HWY_INLINE VF value_where(VI index, VI place, VF v) {
    return hn::IfThenElseZero(hn::RebindMask(DF(), hn::Eq(index, place)), v);
}
template <class F>
HWY_INLINE void for_each_channels(I n, const F& f) {
    for_each_vector(n, f);
}

#define HALFTONE_FORMULA HWY_INLINE
#define HALFTONE_FORMULA_LAMBDA HWY_ATTR
#include "cpu/pool_windows.inc"
#undef HALFTONE_FORMULA_LAMBDA
#undef HALFTONE_FORMULA

template <class T>
void avg_pool_line(T* y, const T* x, const PoolPlan& plan, I oh) {
    const Taps rows = plan.rows.taps(oh);
    for (I ow = 0; ow < plan.cols.out(); ++ow) {
        const Taps cols = plan.cols.taps(ow);
        const VF divisor = hn::Set(DF(), static_cast<float>(plan.divisor(oh, ow)));
        for_each_vector(plan.c, [&](I c, auto part) HWY_ATTR {
            VF sum = hn::Zero(DF());
            for (I h = rows.first; h < rows.last; h += rows.step) {
                VF line = hn::Zero(DF());  // a sum a row keeps the error of large windows small
                for (I w = cols.first; w < cols.last; w += cols.step)
                    line = hn::Add(line, part.load(x + (h * plan.cols.in() + w) * plan.c + c));
                sum = hn::Add(sum, line);
            }
            part.store(hn::Div(sum, divisor), y + ow * plan.c + c);
        });
    }
}

template <class T>
void avg_unpool_line(T* dx, const T* dy, const PoolPlan& plan, I h) {
    const Taps rows = plan.rows.covering(h);
    for (I w = 0; w < plan.cols.in(); ++w, dx += plan.c) {
        const Taps cols = plan.cols.covering(w);
        const bool single = rows.first + rows.step >= rows.last && rows.first < rows.last &&
                            cols.first + cols.step >= cols.last && cols.first < cols.last;
        if (!single) {
            avg_unpool_pixel(dx, dy, plan, rows, cols);
            continue;
        }
        // The usual case: windows that do not overlap.
        const I divisor = plan.divisor(rows.first, cols.first);
        const VF count = hn::Set(DF(), static_cast<float>(divisor));
        map(dx, dy + (rows.first * plan.cols.out() + cols.first) * plan.c, plan.c,
            [&](VF g) HWY_ATTR { return hn::Div(g, count); });
    }
}

void max_pool_lines(Array y, Array index, ConstArray x, const PoolPlan& plan, I begin, I end) {
    with_vector_type(x.dtype, [&]<typename T>(T) {
        max_pool_rows(static_cast<T*>(y.data), static_cast<std::int32_t*>(index.data),
                      static_cast<const T*>(x.data), plan, begin, end);
    });
}

void max_unpool_lines(Array dx, ConstArray dy, ConstArray index, const PoolPlan& plan, I begin,
                      I end) {
    with_vector_type(dx.dtype, [&]<typename T>(T) {
        max_unpool_rows(static_cast<T*>(dx.data), static_cast<const T*>(dy.data),
                        static_cast<const std::int32_t*>(index.data), plan, begin, end);
    });
}

void avg_pool_lines(Array y, ConstArray x, const PoolPlan& plan, I begin, I end) {
    with_vector_type(x.dtype, [&]<typename T>(T) {
        for_each_line(plan.rows.out(), begin, end, [&](I n, I oh) {
            avg_pool_line(
                static_cast<T*>(y.data) + n * plan.out_image() + oh * plan.cols.out() * plan.c,
                static_cast<const T*>(x.data) + n * plan.in_image(), plan, oh);
        });
    });
}

void avg_unpool_lines(Array dx, ConstArray dy, const PoolPlan& plan, I begin, I end) {
    with_vector_type(dx.dtype, [&]<typename T>(T) {
        for_each_line(plan.rows.in(), begin, end, [&](I n, I h) {
            avg_unpool_line(
                static_cast<T*>(dx.data) + n * plan.in_image() + h * plan.cols.in() * plan.c,
                static_cast<const T*>(dy.data) + n * plan.out_image(), plan, h);
        });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(max_pool_lines);
HWY_EXPORT(max_unpool_lines);
HWY_EXPORT(avg_pool_lines);
HWY_EXPORT(avg_unpool_lines);

/// Lines of the output that are worth a thread: by the inputs they read.
std::int64_t output_grain(const PoolPlan& plan) {
    return row_grain(plan.in_image() / std::max<std::int64_t>(plan.rows.out(), 1));
}
std::int64_t input_grain(const PoolPlan& plan) { return row_grain(plan.cols.in() * plan.c); }

void avg_pool(Array y, ConstArray x, const PoolPlan& plan) {
    parallel_for(plan.n * plan.rows.out(), output_grain(plan),
                 [&](std::int64_t begin, std::int64_t end) {
                     if (x.dtype == DType::f64)
                         avg_pool_rows_double(static_cast<double*>(y.data),
                                              static_cast<const double*>(x.data), plan, begin, end);
                     else
                         HWY_DYNAMIC_DISPATCH(avg_pool_lines)(y, x, plan, begin, end);
                 });
}

void avg_unpool(Array dx, ConstArray dy, const PoolPlan& plan) {
    parallel_for(
        plan.n * plan.rows.in(), input_grain(plan), [&](std::int64_t begin, std::int64_t end) {
            if (dx.dtype == DType::f64)
                avg_unpool_rows_double(static_cast<double*>(dx.data),
                                       static_cast<const double*>(dy.data), plan, begin, end);
            else
                HWY_DYNAMIC_DISPATCH(avg_unpool_lines)(dx, dy, plan, begin, end);
        });
}

}  // namespace

void max_pool2d_forward(Array y, Array index, ConstArray x, const Pool2dShape& shape, Stream) {
    const PoolPlan plan = max_plan(shape);
    assert(index.dtype == DType::i32 && y.size == plan.n * plan.out_image());
    parallel_for(plan.n * plan.rows.out(), output_grain(plan),
                 [&](std::int64_t begin, std::int64_t end) {
                     if (x.dtype == DType::f64)
                         max_pool_rows_double(static_cast<double*>(y.data),
                                              static_cast<std::int32_t*>(index.data),
                                              static_cast<const double*>(x.data), plan, begin, end);
                     else
                         HWY_DYNAMIC_DISPATCH(max_pool_lines)(y, index, x, plan, begin, end);
                 });
}

void max_pool2d_backward(Array dx, ConstArray dy, ConstArray index, const Pool2dShape& shape,
                         Stream) {
    const PoolPlan plan = max_plan(shape);
    assert(index.dtype == DType::i32 && dx.size == plan.n * plan.in_image());
    parallel_for(plan.n * plan.rows.in(), input_grain(plan),
                 [&](std::int64_t begin, std::int64_t end) {
                     if (dx.dtype == DType::f64)
                         max_unpool_rows_double(
                             static_cast<double*>(dx.data), static_cast<const double*>(dy.data),
                             static_cast<const std::int32_t*>(index.data), plan, begin, end);
                     else
                         HWY_DYNAMIC_DISPATCH(max_unpool_lines)(dx, dy, index, plan, begin, end);
                 });
}

void max_pool2d_gather(Array y, ConstArray x, ConstArray index, const Pool2dShape& shape, Stream) {
    const PoolPlan plan = max_plan(shape);
    const auto* place = static_cast<const std::int32_t*>(index.data);
    parallel_for(plan.n * plan.out_image(), loop_grain, [&](std::int64_t begin, std::int64_t end) {
        with_type(x.dtype, [&]<typename T>(T) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T* image =
                    static_cast<const T*>(x.data) + i / plan.out_image() * plan.in_image();
                // A dilated window may have no tap inside the image.
                static_cast<T*>(y.data)[i] =
                    place[i] < 0 ? T{} : image[place[i] * plan.c + i % plan.c];
            }
        });
    });
}

void avg_pool2d_forward(Array y, ConstArray x, const Pool2dShape& shape, Stream) {
    avg_pool(y, x, fixed_plan(shape));
}

void avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape, Stream) {
    avg_unpool(dx, dy, fixed_plan(shape));
}

void adaptive_avg_pool2d_forward(Array y, ConstArray x, const Pool2dShape& shape, Stream) {
    avg_pool(y, x, adaptive_plan(shape));
}

void adaptive_avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape, Stream) {
    avg_unpool(dx, dy, adaptive_plan(shape));
}

}  // namespace kernels::cpu
#endif
