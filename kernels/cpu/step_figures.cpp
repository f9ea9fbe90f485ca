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
std::int64_t count_correct(const T* logits, const std::int64_t* labels, std::int64_t rows,
                           std::int64_t cols) {
    std::atomic<std::int64_t> correct{0};
    parallel_for(rows, row_grain(cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t here = 0;
        for (std::int64_t r = begin; r < end; ++r)
            here += first_largest(logits + r * cols, cols) == labels[r];
        correct += here;
    });
    return correct;
}

}  // namespace

void tally_batch(BatchTally* tally, ConstArray loss, ConstArray logits, ConstArray labels,
                 std::int64_t rows, std::int64_t cols, Stream) {
    assert(is_floating(loss.dtype) && is_floating(logits.dtype) && labels.dtype == DType::i64);
    if (rows == 0) return;
    with_type(loss.dtype, [&](auto type) {
        const auto value =
            static_cast<double>(widen(*static_cast<const decltype(type)*>(loss.data)));
        add_loss(*tally, value, rows);
    });
    if (cols == 0) return;
    with_type(logits.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(T{})), double>)
            tally->correct +=
                count_correct(static_cast<const T*>(logits.data),
                              static_cast<const std::int64_t*>(labels.data), rows, cols);
    });
}

void gather_step(StepFigures* figures, const StepSources& from, Stream) { gather_figures(*figures, from); }

void set_learning_rate(float* lr, const std::int64_t* updates, const LearningRateSchedule& schedule,
                       Stream) {
    put_learning_rate(lr, updates, schedule);
}

}  // namespace kernels::cpu
