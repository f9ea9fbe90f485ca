#pragma once

#include <memory>

#include "kernels/thread_context.h"

namespace engine {

class BatchCounts;
class Communicator;
class MemoryAccounting;
class MemoryPool;
class ModuleNames;
class ModuleScope;
class Norms;
class ScaledScores;

/// Purpose of a block of memory (decisions.md#memory, D8).
enum class MemoryUse {
    weights,
    masters,
    gradients,
    optimizer,
    activations,
    codes,  ///< of 8 and 4 bits, with their scales
    cast_cache,
    workspace
};

/// Everything that operations of a thread depend on beside their arguments. A run enters its own as
/// a whole (RunContext::Entry); a ContextScope changes one member. The selected device is the
/// driver's, and what concerns the libraries' algorithms is kernels::LibraryContext.
struct ComputeContext {
    const std::shared_ptr<MemoryAccounting>* accounting = nullptr;  ///< of new blocks; null: none
    const std::shared_ptr<MemoryPool>* pool = nullptr;              ///< of new blocks on its device
    MemoryUse use = MemoryUse::activations;                         ///< of new blocks
    bool tf32 = false;                    ///< f32 products may use TF32 where the device has it
    bool records = true;                  ///< operations record gradients
    bool infers = false;                  ///< casts are never cached (autocast.md#interplay, 1.7)
    bool recomputes = false;              ///< a segment is recomputed (autograd/checkpoint.h)
    bool frees_graph = false;             ///< the innermost backward pass frees its graph
    bool low_gradients = false;           ///< gradient_shortcuts.h
    int backward_depth = 0;               ///< backward passes, one inside the other
    const ModuleScope* module = nullptr;  ///< the innermost open one
    int profiler_ranges = 0;              ///< of open modules
    ModuleNames* module_names = nullptr;  ///< collects those of modules that are made
    Communicator* norm_ranks = nullptr;   ///< batch norms take their statistics over these ranks
    bool uncounted_rows = false;          ///< in which the rows computed here do not count
    BatchCounts* batch_counts = nullptr;  ///< collects the counts of batch norms
    const Norms* norms = nullptr;         ///< of layers (ops/norm/norms.h); null: intact ones
    ScaledScores* scaled_scores = nullptr;  ///< ops/attention/scaled_scores.h

    static ComputeContext& of_thread() noexcept;
};

using kernels::ContextScope;

/// Like ContextScope, for a member that points to what the scope keeps alive.
template <auto Member>
class OwningScope;
template <typename T, const std::shared_ptr<T>* ComputeContext::*Member>
class OwningScope<Member> {
public:
    explicit OwningScope(std::shared_ptr<T> owned) noexcept
        : owned_(std::move(owned)), scope_(&owned_) {}

private:
    const std::shared_ptr<T> owned_;
    ContextScope<Member> scope_;
};

namespace detail {
inline constinit thread_local ComputeContext compute_context;
}
inline ComputeContext& ComputeContext::of_thread() noexcept { return detail::compute_context; }

}  // namespace engine
