#include "ops/pointwise/write_in_place.h"

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

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

}  // namespace engine
