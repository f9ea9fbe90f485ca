#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "cpu/grain.h"
#include "cpu/softmax_double.h"
#include "kernels/parallel.h"
#include "kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax_cross_entropy.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "cpu/rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// Whole rows that one vector holds together, if there is more than one. The functions of one
/// element are the same on any lane, so a row comes out the same as by itself.
inline std::int64_t rows_of_vector(std::int64_t cols) {
    return lane_count() / std::max<std::int64_t>(cols, 1);
}

constexpr std::size_t max_lanes = HWY_MAX_BYTES / sizeof(float);

/// One number of a row for each of its elements, from row to row.
struct ByElement {
    alignas(HWY_MAX_BYTES) float values[max_lanes] = {};

    void set(std::int64_t row, std::int64_t cols, float value) {
        std::fill_n(values + row * cols, cols, value);
    }
    HWY_INLINE VF vector() const { return hn::Load(DF(), values); }
};

/// Maximum and logarithm of the sum of exponentials of `rows` rows, which fit one vector.
template <class T>
void narrow_stats(float* stats, const T* in, std::int64_t rows, std::int64_t cols) {
    const DF d;
    const std::int64_t n = rows * cols;
    alignas(HWY_MAX_BYTES) float powers[2 * max_lanes] = {};
    ByElement x, shift;
    hn::Store(n == lane_count() ? load(in) : load_part(in, static_cast<std::size_t>(n)), d,
              x.values);
    for (std::int64_t row = 0; row < rows; ++row) {
        float most = -std::numeric_limits<float>::infinity();
        for (std::int64_t c = 0; c < cols; ++c) {
            const float value = x.values[row * cols + c];
            most = value > most ? value : most;  // a NaN is not
        }
        stats[2 * row] = most;
        shift.set(row, cols, most);
    }
    hn::Store(exp_of(hn::Sub(x.vector(), shift.vector())), d, powers);
    const auto within = hn::FirstN(d, static_cast<std::size_t>(cols));
    for (std::int64_t row = 0; row < rows; ++row) {
        const VF own = hn::IfThenElseZero(within, hn::LoadU(d, powers + row * cols));
        stats[2 * row + 1] = std::log(hn::GetLane(hn::SumOfLanes(d, own)));
    }
}

template <class T>
float loss_of(const T* at_label, const float* kept) {
    return -hn::GetLane(
        log_probability(load_part(at_label, 1), hn::Set(DF(), kept[0]), hn::Set(DF(), kept[1])));
}

template <class T>
void narrow_forward_rows(float* stats, float* losses, const T* in, const std::int64_t* labels,
                         std::int64_t rows, std::int64_t cols, std::int64_t ignore_index) {
    const std::int64_t most = rows_of_vector(cols);
    for (std::int64_t first = 0; first < rows; first += most)
        narrow_stats(stats + 2 * first, in + first * cols, std::min(most, rows - first), cols);
    for (std::int64_t row = 0; row < rows; ++row) {
        float* kept = stats + 2 * row;
        if (labels[row] == ignore_index)
            kept[0] = kept[1] = losses[row] = 0;
        else
            losses[row] = loss_of(in + row * cols + labels[row], kept);
    }
}

void cross_entropy_forward_rows(Array stats, Array losses, ConstArray logits, ConstArray target,
                                std::int64_t cols, std::int64_t ignore_index, std::int64_t begin,
                                std::int64_t end) {
    with_vector_type(logits.dtype, [&]<typename T>(T) {
        const auto* labels = static_cast<const std::int64_t*>(target.data);
        if (rows_of_vector(cols) > 1)
            return narrow_forward_rows(static_cast<float*>(stats.data) + 2 * begin,
                                       static_cast<float*>(losses.data) + begin,
                                       static_cast<const T*>(logits.data) + begin * cols,
                                       labels + begin, end - begin, cols, ignore_index);
        for (std::int64_t row = begin; row < end; ++row) {
            float* kept = static_cast<float*>(stats.data) + 2 * row;
            float& loss = static_cast<float*>(losses.data)[row];
            kept[0] = kept[1] = loss = 0;
            if (labels[row] == ignore_index) continue;
            const T* in = static_cast<const T*>(logits.data) + row * cols;
            const RowScale scale = row_scale(in, cols);
            kept[0] = scale.max;
            kept[1] = std::log(scale.sum);
            loss = loss_of(in + labels[row], kept);
        }
    });
}

/// factor * (exp(log_probability) - onehot(label)). The label's element is read before the row is
/// written, which may be the same memory.
template <class T>
void gradient_row(T* out, const T* in, const float* kept, std::int64_t cols, float factor,
                  std::int64_t label) {
    const DF d;
    const VF max = hn::Set(d, kept[0]), log_sum = hn::Set(d, kept[1]), scale = hn::Set(d, factor);
    const auto gradient = [&](VF x, VF onehot) HWY_ATTR {
        return cross_entropy_gradient(log_probability(x, max, log_sum), onehot, scale);
    };
    const VF at_label = gradient(load_part(in + label, 1), hn::Set(d, 1.0f)), zero = hn::Zero(d);
    map(out, in, cols, [&](VF x) HWY_ATTR { return gradient(x, zero); });
    store_part(at_label, out + label, 1);
}

/// The gradients of `rows` rows, which fit one vector. Reads before it writes, as gradient_row.
template <class T>
void narrow_gradients(T* out, const T* in, const float* stats, const float* factors,
                      std::int64_t factor_step, const std::int64_t* labels, std::int64_t rows,
                      std::int64_t cols, std::int64_t ignore_index) {
    const std::int64_t n = rows * cols;
    const bool whole = n == lane_count();
    ByElement max, log_sum, factor, onehot;
    for (std::int64_t row = 0; row < rows; ++row) {
        max.set(row, cols, stats[2 * row]);
        log_sum.set(row, cols, stats[2 * row + 1]);
        factor.set(row, cols, factors[row * factor_step]);
        if (labels[row] != ignore_index) onehot.values[row * cols + labels[row]] = 1;
    }
    const VF x = whole ? load(in) : load_part(in, static_cast<std::size_t>(n));
    const VF g = cross_entropy_gradient(log_probability(x, max.vector(), log_sum.vector()),
                                        onehot.vector(), factor.vector());
    if (whole)
        store(g, out);
    else
        store_part(g, out, static_cast<std::size_t>(n));
    for (std::int64_t row = 0; row < rows; ++row)
        if (labels[row] == ignore_index) std::fill_n(out + row * cols, cols, T{});
}

void cross_entropy_backward_rows(Array dlogits, ConstArray scale, ConstArray logits,
                                 ConstArray stats, ConstArray target, std::int64_t cols,
                                 std::int64_t ignore_index, std::int64_t begin, std::int64_t end) {
    with_vector_type(logits.dtype, [&]<typename T>(T) {
        const auto* labels = static_cast<const std::int64_t*>(target.data);
        const auto* factors = static_cast<const float*>(scale.data);
        const std::int64_t most = rows_of_vector(cols), step = scale.size == 1 ? 0 : 1;
        for (std::int64_t row = begin; most > 1 && row < end; row += most)
            narrow_gradients(static_cast<T*>(dlogits.data) + row * cols,
                             static_cast<const T*>(logits.data) + row * cols,
                             static_cast<const float*>(stats.data) + 2 * row, factors + row * step,
                             step, labels + row, std::min(most, end - row), cols, ignore_index);
        if (most > 1) return;
        for (std::int64_t row = begin; row < end; ++row) {
            T* out = static_cast<T*>(dlogits.data) + row * cols;
            const T* in = static_cast<const T*>(logits.data) + row * cols;
            if (labels[row] == ignore_index)
                std::fill(out, out + cols, T{});
            else
                gradient_row(out, in, static_cast<const float*>(stats.data) + 2 * row, cols,
                             factors[scale.size == 1 ? 0 : row], labels[row]);
        }
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(cross_entropy_forward_rows);
HWY_EXPORT(cross_entropy_backward_rows);

}  // namespace

bool cross_entropy_forward(Array stats, Array losses, ConstArray logits, ConstArray target,
                           std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                           const DeferredErrorPlace&, Stream) {
    assert(logits.size == rows * cols && target.size == rows && losses.size == rows);
    assert(stats.size == 2 * rows && stats.dtype == losses.dtype);
    const auto* labels = static_cast<const std::int64_t*>(target.data);
    for (std::int64_t row = 0; row < rows; ++row) {
        const bool in_range = labels[row] >= 0 && labels[row] < cols;
        if (!in_range && labels[row] != ignore_index) return false;
    }
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (logits.dtype == DType::f64)
            cross_entropy_forward_rows_double(stats, losses, logits, target, cols, ignore_index,
                                              begin, end);
        else
            HWY_DYNAMIC_DISPATCH(cross_entropy_forward_rows)
        (stats, losses, logits, target, cols, ignore_index, begin, end);
    });
    return true;
}

void cross_entropy_backward(Array dlogits, ConstArray scale, ConstArray logits, ConstArray stats,
                            ConstArray target, std::int64_t rows, std::int64_t cols,
                            std::int64_t ignore_index, Stream) {
    assert(logits.size == rows * cols && dlogits.size == logits.size && stats.size == 2 * rows);
    assert(dlogits.dtype == logits.dtype);
    assert(scale.dtype == stats.dtype && (scale.size == 1 || scale.size == rows));
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (logits.dtype == DType::f64)
            cross_entropy_backward_rows_double(dlogits, scale, logits, stats, target, cols,
                                               ignore_index, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(cross_entropy_backward_rows)
        (dlogits, scale, logits, stats, target, cols, ignore_index, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
