#include "ops/pointwise/inplace.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Whether the write has to go on the tape. Refuses where it cannot.
bool recorded(const Op& info, const Tensor& x, const TensorList& others) {
    if (!grad_enabled()) return false;
    if (!x.requires_grad() && !any_requires_grad(others)) return false;
    if (x.is_leaf() && x.requires_grad()) {
        throw Error(ErrorCode::state,
                    std::string(info.name) + ": a leaf that requires a gradient cannot be changed",
                    "Do it with gradient mode off, or use the form that returns a new tensor.");
    }
    if (x.is_view()) {
        throw Error(ErrorCode::state,
                    std::string(info.name) +
                        ": a view of another tensor cannot be changed while gradients are recorded",
                    "Write into the tensor that it is a view of, or use the form that returns a "
                    "new tensor.");
    }
    return true;
}

/// x before the write: its node in the graph with a copy of its values, which a gradient may still
/// need.
Tensor before(const Tensor& x) {
    const Tensor old = Tensor::empty(x.shape(), x.dtype(), x.device(), layout_of(x));
    copy_into(old, x);
    old.impl()->node = x.impl()->node;
    old.impl()->output_index = x.impl()->output_index;
    return old;
}

/// Puts y's values, and its place in the graph if `on_tape`, into x.
void write(const Op& info, const Tensor& x, const Tensor& y, bool on_tape) {
    check_shapes(info, x.shape() == y.shape(), x, y);
    copy_into(x, y);
    x.bump_version();
    if (!on_tape) return;
    x.impl()->node = y.impl()->node;
    x.impl()->output_index = y.impl()->output_index;
    if (x.impl()->node) x.impl()->node->hooked = x.impl();
}

}  // namespace

Tensor write_in_place(const Op& info, const Tensor& x, const TensorList& others,
                      const std::function<Tensor(const Tensor& old, const TensorList& others)>& f) {
    const bool on_tape = recorded(info, x, others);
    const NoAutocast listed_nowhere(x.device().kind);
    const GradMode mode(on_tape);
    const Tensor old = on_tape ? before(x) : x.detach();
    // x on both sides: its old values stand for both.
    TensorList sides = others;
    for (auto& side : sides) {
        if (side.defined() && side.impl() == x.impl()) side = old;
    }
    write(info, x, to(f(old, sides), x.dtype()), on_tape);
    return x;
}

namespace {

constexpr Op assign_op("assign(x)");

/// As in PyTorch, a float is not truncated to an integer, nor a number to a boolean.
void check_kind(const Op& info, const Tensor& x, DType result) {
    const bool loses = is_floating(result) ? !is_floating(x.dtype())
                                           : x.dtype() == DType::boolean && result != x.dtype();
    if (loses)
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": the result is " + name(result) +
                        ", which cannot be written into " + name(x.dtype()),
                    "Use the form that returns a new tensor, or cast the other side.");
}

/// x op other, written into x; the other side may be missing.
template <typename F>
Tensor apply(const Op& op, const Tensor& x0, const Tensor& other0, const F& f) {
    return op.call(x0, other0, [&](const Tensor& x, const Tensor& other) {
        return write_in_place(op, x, {other}, [&](const Tensor& old, const TensorList& sides) {
            const Tensor result = f(old, sides[0]);
            check_kind(op, old, result.dtype());
            return result;
        });
    });
}

}  // namespace

Tensor add_(const Tensor& x, const Tensor& other) {
    return apply(add_inplace_op, x, other,
                 [](const Tensor& old, const Tensor& side) { return add(old, side); });
}
Tensor mul_(const Tensor& x, const Tensor& other) {
    return apply(mul_inplace_op, x, other,
                 [](const Tensor& old, const Tensor& side) { return mul(old, side); });
}
Tensor exp_(const Tensor& x) {
    return apply(exp_inplace_op, x, {}, [](const Tensor& old, const Tensor&) { return exp(old); });
}
Tensor pow_(const Tensor& x, const Tensor& exponent) {
    return apply(pow_inplace_op, x, exponent,
                 [](const Tensor& old, const Tensor& side) { return pow(old, side); });
}

Tensor assigned_like(const Tensor& x, const Tensor& like) {
    const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), layout_of(like));
    copy_into(y, x);
    return record(assign_op, {x}, y, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

Tensor copy_(const Tensor& x, const Tensor& source) {
    // The cast comes first, so that the gradient is summed over repeated elements before it is
    // rounded to the source's type.
    return apply(copy_inplace_op, x, source, [](const Tensor& old, const Tensor& side) {
        return assigned_like(expand(to(side, old.dtype()), old.shape()), old);
    });
}

Tensor zero_(const Tensor& x) {
    return apply(zero_inplace_op, x, {}, [](const Tensor& old, const Tensor&) {
        return Tensor::zeros(old.shape(), old.dtype(), old.device());
    });
}

}  // namespace engine
