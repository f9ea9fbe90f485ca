#include "kernels/step_figures.h"

#include <atomic>
#include <cassert>
#include <cmath>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

template <class T>
std::int64_t first_largest(const T* row, std::int64_t cols) {
    std::int64_t best = 0;
    double most = widen(row[0]);
    for (std::int64_t c = 1; c < cols && !std::isnan(most); ++c) {
        const double v = widen(row[c]);
        if (v > most || std::isnan(v)) {
            most = v;
            best = c;
        }
    }
    return best;
}

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

template <class T>
void copy_if_given(T& field, const T* source) {
    if (source != nullptr) field = *source;
}

}  // namespace

void tally_batch(BatchTally* tally, ConstArray loss, ConstArray logits, ConstArray labels,
                 std::int64_t rows, std::int64_t cols, Stream) {
    assert(is_floating(loss.dtype) && is_floating(logits.dtype) && labels.dtype == DType::i64);
    if (rows == 0) return;
    tally->samples += rows;
    with_type(loss.dtype, [&](auto type) {
        const auto value =
            static_cast<double>(widen(*static_cast<const decltype(type)*>(loss.data)));
        tally->loss_sum += static_cast<double>(rows) * value;
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

void gather_step(StepFigures* figures, const StepSources& from, Stream) {
    copy_if_given(figures->tally, from.tally);
    copy_if_given(figures->judgement, from.judgement);
    copy_if_given(figures->counts, from.counts);
    copy_if_given(figures->updates, from.updates);
    copy_if_given(figures->loss_scale, from.loss_scale);
    copy_if_given(figures->next_loss_scale, from.next_loss_scale);
    copy_if_given(figures->lr, from.lr);
    copy_if_given(figures->scaled_f16_max, from.scaled_f16_max);
    copy_if_given(figures->growth_tracker, from.growth_tracker);
    if (from.refusal != nullptr) {
        figures->refusal = *from.refusal;
        *from.refusal = 0;
    }
}

void set_learning_rate(float* lr, const std::int64_t* updates, const LearningRateSchedule& schedule,
                       Stream) {
    *lr = static_cast<float>(learning_rate(schedule, *updates));
}

}  // namespace kernels::cpu
