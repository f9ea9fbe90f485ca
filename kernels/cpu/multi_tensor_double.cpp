#include <cmath>
#include <type_traits>

#include "cpu/multi_tensor_update.h"
#include "cpu/scalar_convert.h"

namespace kernels::cpu {
namespace {

double read(const Array& x, std::int64_t i) {
    double value = 0;
    with_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        value = static_cast<double>(widen(static_cast<const T*>(x.data)[i]));
    });
    return value;
}

void write(const Array& x, std::int64_t i, double value) {
    with_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        static_cast<T*>(x.data)[i] = narrow<T>(value);
    });
}

/// The gradient, unscaled and clipped, written back where asked.
template <class Step>
double read_grad(const Array& grad, std::int64_t i, const Step& step) {
    const double g = read(grad, i) * step.grad_factor * step.clip;
    if (step.write_grads) write(grad, i, g);
    return g;
}

}  // namespace

void sgd_double(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                const SgdStep& step) {
    auto* p = static_cast<double*>(tensor.master.data);
    for (std::int64_t i = first; i < first + n; ++i) {
        double g = read_grad(tensor.grad, i, step) + step.weight_decay * p[i];
        if (tensor.state1.data != nullptr) {
            const double buffer =
                step.first_step ? g : step.momentum * read(tensor.state1, i) + step.undamped * g;
            write(tensor.state1, i, buffer);
            g = step.nesterov ? g + step.momentum * buffer : buffer;
        }
        p[i] -= step.lr * g;
        if (tensor.low.data != nullptr) write(tensor.low, i, p[i]);
    }
}

void adam_double(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                 const AdamStep& step) {
    auto* p = static_cast<double*>(tensor.master.data);
    for (std::int64_t i = first; i < first + n; ++i) {
        const double g = read_grad(tensor.grad, i, step) + step.weight_decay * p[i];
        double m = read(tensor.state1, i);
        m += (1 - step.beta1) * (g - m);
        const double v = step.beta2 * read(tensor.state2, i) + (1 - step.beta2) * g * g;
        write(tensor.state1, i, m);
        write(tensor.state2, i, v);
        const double denominator = std::sqrt(v) / step.root_c2 + step.eps;
        p[i] = p[i] * step.decay - step.step_size * m / denominator;
        if (tensor.low.data != nullptr) write(tensor.low, i, p[i]);
    }
}

}  // namespace kernels::cpu
