#pragma once

#include <initializer_list>
#include <span>

#include "tensor/op.h"

namespace engine {

/// One op as it ran, for X-ray, histograms and skips (decisions.md#observers, D9).
struct OpEvent {
    const Op* info;
    std::span<const Tensor> inputs;  // as the op used them, after casts
    std::span<const Tensor> outputs;
    bool in_backward;
};

struct OpCall;  // amp/dispatch.h

/// Observes operations, their calls and gradients of the thread that it is attached to, and changes
/// nothing that runs: where a kernel computes several operations, they are shown by show_part(), or
/// run once more (on_aside()). Without an observer an op pays two branches. current_module()
/// (tensor/module_scope.h) is the module that an event belongs to.
class OpObserver {
public:
    virtual ~OpObserver() = default;
    /// False: it sees gradients alone.
    virtual bool sees_ops() const { return true; }
    virtual void on_op(const OpEvent&) {}
    /// Calls as their callers made them, gradients' too. They nest.
    virtual void on_call(const OpCall&) {}
    /// The innermost open call ends; also by an exception, then without outputs.
    virtual void on_return(std::span<const Tensor> /*outputs*/) {}
    /// The weight cache returned a copy instead of a new cast.
    virtual void on_cached_cast(const Tensor& /*source*/, const Tensor& /*cast*/) {}
    /// Whether it reads values of an operation's inputs in a backward pass. Else results may lie in
    /// their memory, as they do without observers (tensor/gradient_shortcuts.h).
    virtual bool reads_inputs() const { return true; }
    /// A gradient of an output of `to` in a backward pass, before it is used. Not called for
    /// undefined and sparse ones. One that a leaf takes in another type than its own (LowGradients)
    /// is shown to observers of operations alone, cast aside.
    virtual void on_gradient(const Op& /*to*/, const Tensor&) {}
    /// Whether the gradient function of `to` may add up two gradients of its output itself
    /// (PairedGradFn). on_gradient is called for neither of them then, nor for their sum. One that
    /// sees operations is not asked: it is shown the sum, which is computed aside.
    virtual bool allows_pair(const Op& /*to*/) const { return false; }
    /// The operations between on_aside(true) and on_aside(false) are no part of the program: they
    /// run once more what it has just computed together. Called with true again after
    /// preparations, which are not shown.
    virtual void on_aside(bool /*begins*/) {}
    /// `shown`, which was computed aside, has the values of the program's own tensor.
    virtual void on_same(const Tensor& /*shown*/, const Tensor& /*own*/) {}
};

/// Attaches an observer to this thread while it lives. Several may be attached.
class ObserverScope {
public:
    explicit ObserverScope(OpObserver& observer);
    ~ObserverScope();
    ObserverScope(const ObserverScope&) = delete;
    ObserverScope& operator=(const ObserverScope&) = delete;

private:
    OpObserver* observer_;
};

/// To whom this thread's work is shown: all observers; those of gradients alone, while operations
/// are computed otherwise than they are shown; those of operations alone, while they are run aside.
enum class Audience { all, gradients_alone, aside };

class [[nodiscard]] AudienceScope {
public:
    explicit AudienceScope(Audience audience);
    ~AudienceScope();
    AudienceScope(const AudienceScope&) = delete;
    AudienceScope& operator=(const AudienceScope&) = delete;

private:
    Audience before_;
};

namespace detail {
extern constinit thread_local bool observed;  // one branch of each op
extern constinit thread_local bool gradients_observed;
void notify(const OpEvent& event);
/// The observers of this thread's operations, in the order in which they were attached.
std::vector<OpObserver*> op_observers();

/// Whether an observer sees this thread's gradients.
inline bool gradients_are_observed() noexcept { return gradients_observed; }
/// Whether an observer of this thread's operations reads values of their inputs.
bool inputs_are_read();
/// Whether the observers of gradients alone allow two of `to`'s output to be added up unseen.
bool pair_is_allowed(const Op& to);
/// Passes the gradient to all observers, unless it is undefined or sparse.
void show_gradient(const Op& to, const Tensor& gradient);
}  // namespace detail

/// Whether an observer sees this thread's operations.
inline bool operations_are_observed() noexcept { return detail::observed; }

/// Shows an operation that a kernel for several computed along with others, as if it had run alone.
void show_part(const Op& part, std::initializer_list<Tensor> inputs, const Tensor& output);

}  // namespace engine
