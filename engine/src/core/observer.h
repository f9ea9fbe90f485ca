#pragma once

#include <span>

#include "core/op.h"

namespace engine {

/// One op as it ran: for X-ray, histograms, forensics (D9).
struct OpEvent {
    const OpInfo* info;
    std::span<const Tensor> inputs;  // as the op used them, after casts
    std::span<const Tensor> outputs;
    bool in_backward;
};

/// Sees every op of the thread that it is attached to. With none attached an op pays one branch.
/// current_module() (core/module_scope.h) tells which module of the model an event belongs to.
class OpObserver {
public:
    virtual ~OpObserver() = default;
    virtual void on_op(const OpEvent& event) = 0;
    /// A gradient flowing to `to` in a backward pass, before it is used; undefined ones are left
    /// out.
    virtual void on_gradient(const OpInfo& to, const Tensor& gradient);
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

namespace detail {
extern thread_local bool observed;  // the one branch
void notify(const OpEvent& event);
void notify_gradient(const OpInfo& to, const Tensor& gradient);
}  // namespace detail

}  // namespace engine
