#include "ops/pointwise/inplace.h"

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

/// Whether the write has to go on the tape. Refuses where it cannot.
bool recorded(const OpInfo& info, const Tensor& x, const TensorList& others) {
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
void write(const OpInfo& info, const Tensor& x, const Tensor& y, bool on_tape) {
    check_shapes(info, x.shape() == y.shape(), x, y);
    copy_into(x, y);
    x.bump_version();
    if (!on_tape) return;
    x.impl()->node = y.impl()->node;
    x.impl()->output_index = y.impl()->output_index;
    if (x.impl()->node) x.impl()->node->hooked = x.impl();
}

}  // namespace

Tensor write_in_place(const OpInfo& info, const Tensor& x, const TensorList& others,
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

/// A copy of the argument with a place in the graph, since a leaf must not be written to.
Tensor writable(const OpArguments& args) {
    const Tensor& from = args.at(0);
    const Tensor x = Tensor::empty(from.shape(), from.dtype(), from.device(), layout_of(from));
    return copy_(x, from);
}
Tensor second(const OpArguments& args, const char* attr) {
    return args.has(attr) ? number_like(args.at(0), args, attr) : args.at(1);
}
TensorList run_add(const OpArguments& args) {
    return {add_(writable(args), second(args, "other"))};
}
TensorList run_mul(const OpArguments& args) {
    return {mul_(writable(args), second(args, "other"))};
}
TensorList run_exp(const OpArguments& args) { return {exp_(writable(args))}; }
TensorList run_pow_in_place(const OpArguments& args) {
    return {pow_(writable(args), exponent_of(args))};
}
TensorList run_copy(const OpArguments& args) { return {copy_(writable(args), args.at(1))}; }
TensorList run_zero(const OpArguments& args) { return {zero_(writable(args))}; }

constexpr const char* keeps_left_type =
    "In-place forms are never on the list: the left side keeps its type.";

const OpInfo assign_info{"assign", CastPolicy::none, "assign(x)", 2, keeps_left_type};

/// As in PyTorch, a float is not truncated to an integer, nor a number to a boolean.
void check_kind(const OpInfo& info, const Tensor& x, DType result) {
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
Tensor apply(const OpInfo& info, const Tensor& x, const Tensor& other, F&& op) {
    return write_in_place(info, x, {other}, [&](const Tensor& old, const TensorList& sides) {
        const Tensor result = op(old, sides[0]);
        check_kind(info, old, result.dtype());
        return result;
    });
}

}  // namespace

const OpInfo add_inplace_info{"add_", CastPolicy::none, "add_(x, y)", 2, keeps_left_type, run_add};
const OpInfo mul_inplace_info{"mul_", CastPolicy::none, "mul_(x, y)", 2, keeps_left_type, run_mul};
const OpInfo exp_inplace_info{"exp_", CastPolicy::none, "exp_(x)", 2, keeps_left_type, run_exp};
const OpInfo pow_inplace_info{"pow_", CastPolicy::none, "pow_(x, y)",
                              2,      keeps_left_type,  run_pow_in_place};
const OpInfo copy_inplace_info{
    "copy_", CastPolicy::none, "copy_(x, source)", 2, "A copy takes the type of its destination.",
    run_copy};
const OpInfo zero_inplace_info{"zero_", CastPolicy::none, "zero_(x)", 2, keeps_left_type, run_zero};

Tensor add_(const Tensor& x, const Tensor& other) {
    return apply(add_inplace_info, x, other,
                 [](const Tensor& old, const Tensor& side) { return add(old, side); });
}
Tensor mul_(const Tensor& x, const Tensor& other) {
    return apply(mul_inplace_info, x, other,
                 [](const Tensor& old, const Tensor& side) { return mul(old, side); });
}
Tensor exp_(const Tensor& x) {
    return apply(exp_inplace_info, x, {},
                 [](const Tensor& old, const Tensor&) { return exp(old); });
}
Tensor pow_(const Tensor& x, const Tensor& exponent) {
    return apply(pow_inplace_info, x, exponent,
                 [](const Tensor& old, const Tensor& side) { return pow(old, side); });
}

Tensor assigned_like(const Tensor& x, const Tensor& like) {
    const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), layout_of(like));
    copy_into(y, x);
    return record(assign_info, {x}, y, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

Tensor copy_(const Tensor& x, const Tensor& source) {
    // The cast comes first, so that the gradient is summed over repeated elements before it is
    // rounded to the source's type.
    return apply(copy_inplace_info, x, source, [](const Tensor& old, const Tensor& side) {
        return assigned_like(expand(to(side, old.dtype()), old.shape()), old);
    });
}

Tensor zero_(const Tensor& x) {
    return apply(zero_inplace_info, x, {}, [](const Tensor& old, const Tensor&) {
        return Tensor::zeros(old.shape(), old.dtype(), old.device());
    });
}

}  // namespace engine
