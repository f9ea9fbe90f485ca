#pragma once

#include "shared/recurrent_arrays.h"

// Recurrent steps over a range of rows; f64 in a file of its own.
namespace kernels::cpu {

/// The arrays of a call by their names in the contract.
struct RecurrentStep {
    Array h_new, c_new;
    ConstArray gx, gh, state;
    RecurrentShape shape;

    template <class T>
    StepArrays<T> arrays() const {
        return step_arrays<T>(h_new, c_new, gx, gh, state);
    }
};
struct RecurrentGradient {
    Array dgx, dgh, dstate;
    ConstArray dh, dh_more, dc, gx, gh, state;
    RecurrentShape shape;

    template <class T>
    StepGradientArrays<T> arrays() const {
        return step_gradient_arrays<T>(dgx, dgh, dstate, dh, dh_more, dc, gx, gh, state);
    }
};

void recurrent_rows(const RecurrentStep& step, std::int64_t begin, std::int64_t end);
void recurrent_rows_double(const RecurrentStep& step, std::int64_t begin, std::int64_t end);
void recurrent_gradient_rows(const RecurrentGradient& step, std::int64_t begin, std::int64_t end);
void recurrent_gradient_rows_double(const RecurrentGradient& step, std::int64_t begin,
                                    std::int64_t end);

}  // namespace kernels::cpu
