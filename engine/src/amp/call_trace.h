#pragma once

#include <map>
#include <tuple>

#include "amp/dispatch.h"

namespace engine {

/// Where a tensor lies, and in which shape: equal for handles of the same values.
using TensorPlace =
    std::tuple<const void*, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>>;
TensorPlace tensor_place(const Tensor& tensor);

/// An operation of a traced pass.
struct TracedCall {
    const Op& info;
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
    /// The dimension in which the result differs from the first input; -1: none.
    int changed_dim() const;
    /// The places in the first input of the result's dimensions, if it is a view of it.
    std::vector<std::int64_t> order() const;
};

/// While it lives, passes on the operations of its thread, in the order in which they end: of those
/// that are made of others, the outermost that has() accepts. A cast of an input of such a call is
/// passed on before it, and its result is the input then.
class CallTrace : private OpObserver {
public:
    CallTrace() : scope_(*this) {}

    virtual bool has(const Op& info) const = 0;
    virtual void on_traced(const TracedCall& call) = 0;
    /// on_same() of a result that was passed on.
    virtual void on_same_value(const Tensor& shown, const Tensor& own) = 0;

protected:
    /// The operation that has() did not accept and whose own result this is; empty: none.
    std::string_view unknown_maker(const Tensor& tensor) const;
    /// Keeps a tensor, so that no other takes its place.
    void keep(const Tensor& tensor) { kept_.push_back(tensor); }

private:
    struct Open {
        const Op* info;
        TensorList inputs;
        std::span<const CallArgument> arguments;
    };

    /// on_traced(); what it computes itself is no part of the pass. If it throws, the trace ends.
    void pass_on(const TracedCall& call);
    void on_call(const OpCall& call) override;
    void on_return(std::span<const Tensor> outputs) override;
    void on_op(const OpEvent& event) override;
    void on_same(const Tensor& shown, const Tensor& own) override;

    std::map<TensorPlace, std::string_view> unknown_;
    TensorList kept_;
    std::vector<Open> open_;
    std::size_t inside_ = 0;  // number of open calls from the accepted one on
    bool passes_on_ = false;
    ObserverScope scope_;
};

}  // namespace engine
