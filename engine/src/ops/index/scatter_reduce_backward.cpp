#include "ops/index/scatter_reduce_backward.h"

#include "ops/index/gather.h"
#include "ops/index/scatter.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using kernels::IndexFold;

Tensor number(const Tensor& like, double value) {
    return Tensor::scalar(value, like.dtype(), like.device());
}
/// A truth as 0 or 1 of x's type.
Tensor as_number(const Tensor& truth, const Tensor& x) { return to(truth, x.dtype()); }

Tensor read(const Tensor& x, const Scattering& how) { return gather(x, how.dim, how.index); }
Tensor added(const Tensor& x, const Tensor& source, const Scattering& how) {
    return scatter_add(x, how.dim, how.index, source);
}

TensorList mean_gradients(const Tensor& dy, const Tensor& x, const Tensor& source,
                          const Scattering& how) {
    const Tensor own = Tensor::full(x.shape(), how.include_self ? 1 : 0, x.dtype(), x.device());
    const Tensor ones = Tensor::full(source.shape(), 1, x.dtype(), x.device());
    const Tensor share = div(dy, maximum(added(own, ones, how), number(x, 1)));
    return {share, read(share, how)};
}

/// dy shared among the elements that are the extreme.
TensorList extremum_gradients(const Tensor& dy, const Tensor& x, const Tensor& source,
                              const Tensor& y, const Scattering& how) {
    const Tensor own = as_number(equal(x, y), x);
    const Tensor others = as_number(equal(source, read(y, how)), x);
    const Tensor share = div(dy, added(own, others, how));
    return {mul(own, share), mul(others, read(share, how))};
}

/// The product of the elements that go to a place, and of x there.
Tensor product(const Tensor& x, const Tensor& source, const Scattering& how) {
    return scatter_reduce(x, how.dim, how.index, source, "prod");
}

/// 1, or NaN where x is not finite: PyTorch divides the product by x, which leaves nothing there.
Tensor one_if_finite(const Tensor& x0) {
    const GradMode off(false);
    const Tensor x = to(x0, DType::f64), d = where(equal(x, number(x, 0)), number(x, 1), x);
    return div(d, d);
}

/// Gradients of a product: the product of all other factors. For x that is the product of the
/// source. For an element of the source it is y / element, unless the element is the only zero at
/// its place: then the product without it. With a second zero the result is 0, which y / 1 gives.
/// The second derivative by one element twice is a difference of two equal numbers; in f64 it is 0
/// after rounding to f32.
TensorList product_gradients(const Tensor& dy0, const Tensor& x0, const Tensor& source0,
                             const Scattering& how) {
    const Tensor dy = to(dy0, DType::f64), source = to(source0, DType::f64);
    const Tensor ones = Tensor::full(x0.shape(), 1, DType::f64, x0.device());
    const Tensor x = how.include_self ? to(x0, DType::f64) : ones;
    const Tensor zero = number(x, 0), one = number(x, 1);
    const Tensor is_zero = equal(source, zero);
    const Tensor none = Tensor::zeros(x.shape(), x.dtype(), x.device());
    const Tensor zeros = read(added(none, as_number(is_zero, x), how), how);
    const Tensor alone = equal(mul(as_number(is_zero, x), zeros), one);
    const Tensor without = read(mul(dy, product(x, where(alone, one, source), how)), how);
    const Tensor y = product(x, source, how);
    const Tensor shared = div(read(mul(dy, y), how), where(is_zero, one, source));
    const Tensor by_x = mul(mul(dy, product(ones, source, how)), one_if_finite(x0));
    return {to(by_x, x0.dtype()), to(where(alone, without, shared), x0.dtype())};
}

TensorList gradients(const Tensor& dy, const Tensor& x, const Tensor& source, const Tensor& y,
                     const Scattering& how) {
    switch (how.fold) {
        case IndexFold::mean:
            return mean_gradients(dy, x, source, how);
        case IndexFold::max:
        case IndexFold::min:
            return extremum_gradients(dy, x, source, y, how);
        case IndexFold::prod:
            return product_gradients(dy, x, source, how);
        case IndexFold::sum:
        case IndexFold::last:
            break;
    }
    return {dy, read(dy, how)};
}

}  // namespace

TensorList scatter_reduce_backward(const Tensor& dy, const Tensor& x, const Tensor& source,
                                   const Tensor& y, const Scattering& how) {
    TensorList grads = gradients(dy, x, source, y, how);
    if (!how.include_self) grads[0] = scatter(grads[0], how.dim, how.index, 0.0);
    return grads;
}

}  // namespace engine
