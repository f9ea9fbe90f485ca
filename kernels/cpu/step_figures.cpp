#include "shared/step_figures.h"

#include <atomic>
#include <cassert>

#include "cpu/first_largest.h"
#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

template <class T>
std::int64_t correct_rows(const T* logits, const std::int64_t* labels, std::int64_t rows,
                          std::int64_t cols) {
    std::atomic<std::int64_t> correct{0};
    parallel_for(rows, row_grain(cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t here = 0;
        for (std::int64_t r = begin; r < end; ++r) {
            const T* row = logits + r * cols;
            const std::int64_t found = first_largest(row, cols);
            here += found == labels[r] && !is_nan(widen(row[found]));
        }
        correct += here;
    });
    return correct;
}

double number_at(ConstArray x, std::int64_t i) {
    double value = 0;
    with_type(x.dtype, [&](auto type) {
        value = static_cast<double>(widen(static_cast<const decltype(type)*>(x.data)[i]));
    });
    return value;
}

}  // namespace

void add_loss(MetricSums* sums, ConstArray loss, double weight, Stream) {
    assert(is_floating(loss.dtype));
    if (weight == 0) return;
    with_type(loss.dtype, [&](auto type) {
        add_mean_loss(*sums,
                      static_cast<double>(widen(*static_cast<const decltype(type)*>(loss.data))),
                      weight);
    });
}

void add_weighted(double* sum, ConstArray value, double weight, Stream) {
    assert(is_floating(value.dtype));
    *sum += weight * number_at(value, 0);
}

void count_correct(double* correct, ConstArray logits, ConstArray labels, std::int64_t rows,
                   std::int64_t cols, Stream) {
    assert(is_floating(logits.dtype) && labels.dtype == DType::i64);
    if (rows == 0 || cols == 0) return;
    with_type(logits.dtype, [&]<typename T>(T) {
        if constexpr (std::is_same_v<decltype(widen(T{})), double>)
            *correct += static_cast<double>(
                correct_rows(static_cast<const T*>(logits.data),
                             static_cast<const std::int64_t*>(labels.data), rows, cols));
    });
}

void add_squares(double* sums, ConstArray prediction, ConstArray target, Stream) {
    assert(prediction.size == target.size);
    for (std::int64_t i = 0; i < target.size; ++i) {
        const double wanted = number_at(target, i);
        const double error = number_at(prediction, i) - wanted;
        sums[0] += error * error;
        sums[1] += wanted;
        sums[2] += wanted * wanted;
    }
}

void merge_gradient_statistics(GradientStatistics* to, const GradientStatistics* from, Stream) {
    add_gradient_statistics(*to, *from);
}

void set_learning_rate(float* lr, const std::int64_t* updates, const double* multiplier,
                       const LearningRateSchedule& schedule, Stream) {
    put_learning_rate(lr, updates, multiplier, schedule);
}

}  // namespace kernels::cpu
