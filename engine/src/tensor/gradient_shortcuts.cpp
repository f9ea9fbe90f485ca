#include "tensor/gradient_shortcuts.h"

#include "tensor/observer.h"
#include "tensor/tape_detail.h"

namespace engine {
namespace {

/// Whether the tensor is referenced only by the node that saved it and by the handle that the
/// gradient function reads it through.
bool held_by_its_node_alone(const Tensor& kept) {
    return kept.impl().use_count() == 2 && kept.impl()->storage.use_count() == 1;
}

/// Whether nobody reads what this backward pass has read, once it goes on.
bool nothing_is_kept() {
    return detail::backward_frees_graph() && !grad_enabled() && !detail::inputs_are_read();
}

}  // namespace

Tensor reuse_gradient(const Tensor& given) {
    const bool is_held = given.impl().use_count() > 1 || given.impl()->storage.use_count() > 1;
    if (!nothing_is_kept() || given.is_sparse() || is_held) return {};
    given.bump_version();
    return given.detach();
}

Tensor reuse_saved(const Tensor& kept) {
    if (!nothing_is_kept() || kept.is_sparse() || !held_by_its_node_alone(kept)) return {};
    // Should the pass break off before the node is freed, a second one finds that this was written.
    kept.bump_version();
    return kept.detach();
}

bool takes_low_gradient(const TensorImpl& leaf, const Tensor& gradient) noexcept {
    return low_gradients_stay() && !grad_enabled() && leaf.low_copy && !gradient.is_sparse() &&
           gradient.dtype() == leaf.low_copy->tensor.dtype();
}

}  // namespace engine
