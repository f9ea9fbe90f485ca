#pragma once

#include "amp/dispatch.h"

namespace engine {

/// An operation of a traced pass.
struct TracedCall {
    const OpInfo& info;
    std::span<const Tensor> inputs;  ///< undefined ones are left out
    std::span<const Tensor> outputs;
    std::span<const CallArgument> arguments;  ///< none of an operation that only records itself

    /// The first argument of this type, or null.
    template <typename T>
    const T* find() const {
        for (const CallArgument& each : arguments) {
            if (const T* value = each.as<T>()) return value;
        }
        return nullptr;
    }
};

/// While it lives, passes on the operations of its thread, in the order in which they end: of those
/// that are made of others, the outermost that has() accepts.
class CallTrace : private OpObserver, private CallObserver {
public:
    CallTrace() : ops_(*this), calls_(*this) {}

    virtual bool has(const OpInfo& info) const = 0;
    virtual void on_traced(const TracedCall& call) = 0;
    /// A result of an operation that has() does not accept, and that is not made of others.
    virtual void on_unknown(const OpInfo& info, std::span<const Tensor> outputs) = 0;

private:
    struct Open {
        const OpInfo* info;
        TensorList inputs;
        std::span<const CallArgument> arguments;
    };

    void on_call(const OpCall& call) override;
    void on_return(std::span<const Tensor> outputs) override;
    void on_cached_cast(const Tensor&, const Tensor&) override {}
    void on_op(const OpEvent& event) override;

    std::vector<Open> open_;
    std::size_t inside_ = 0;  // number of open calls from the accepted one on
    ObserverScope ops_;
    CallObserverScope calls_;
};

}  // namespace engine
