#pragma once

#include "cpu/formula_double.h"
#include "cpu/multi_tensor_update.h"
#include "cpu/scalar_convert.h"

/// The optimizers' passes in double, for f64 masters.
namespace kernels::cpu::wide {

#define HALFTONE_FORMULA
#include "shared/update_formulas.inc"
#undef HALFTONE_FORMULA

struct Same {
    double operator()(double value) const { return value; }
};

inline double read(const Array& x, std::int64_t i) {
    double value = 0;
    if (x.data == nullptr) return value;
    with_type(x.dtype, [&]<typename T>(T) {
        value = static_cast<double>(widen(static_cast<const T*>(x.data)[i]));
    });
    return value;
}

inline void write(const Array& x, std::int64_t i, double value) {
    if (x.data == nullptr) return;
    with_type(x.dtype, [&]<typename T>(T) {
        static_cast<T*>(x.data)[i] = narrow<T>(value);
    });
}

inline double gradient_of(const UpdateTensor& t, std::int64_t i, const GradientValues& at) {
    const double g = GradientFormula<double>::of(at, Same())(read(t.grad, i), read(t.master, i));
    if (at.write) write(t.grad, i, g);
    return g;
}

/// The sums of n elements, of(i) each, in blocks. A plain running sum over a whole piece would
/// accumulate one rounding per element, which is visible in an f64 norm.
template <class F>
Sums sums_of(std::int64_t first, std::int64_t n, const F& of) {
    constexpr std::int64_t block = 256;
    Sums all;
    for (const std::int64_t end = first + n; first < end;) {
        Sums part;
        for (const std::int64_t stop = std::min(first + block, end); first < stop; ++first)
            part.add(of(first));
        all.add(part);
    }
    return all;
}

template <class Formula>
void update_run(const UpdateTensor& t, std::int64_t first, std::int64_t n, const Formula& formula,
                const TensorValues& at) {
    for (std::int64_t i = first; i < first + n; ++i) {
        const double g = gradient_of(t, i, at.gradient);
        double p = read(t.master, i), one = read(t.state1, i), two = 0, three = 0;
        if (Formula::states > 1) two = read(t.state2, i);
        if (Formula::states > 2) three = read(t.state3, i);
        formula(p, g, one, two, three, t.state1.data != nullptr, at.of_tensor);
        write(t.master, i, p);
        write(t.state1, i, one);
        if (Formula::states > 1) write(t.state2, i, two);
        if (Formula::states > 2) write(t.state3, i, three);
        write(t.low, i, p);
    }
}

}  // namespace kernels::cpu::wide
