#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "amp/autocast.h"
#include "tensor/dtype.h"
#include "tensor/observer.h"
#include "tensor/op.h"

namespace engine {

/// One key of precision.force.
struct ForceRule {
    std::string key;     ///< as given
    std::string module;  ///< full name; "": any
    std::string op;      ///< Op::name; "": any
    DType type;          ///< f32, f16 or bf16
    bool lifts = false;  ///< forces nothing, where a less specific rule would
};

/// The rules of precision.force, looked up for each call. Immutable.
class ForceRules : public std::enable_shared_from_this<ForceRules> {
public:
    explicit ForceRules(std::vector<ForceRule> rules);

    /// The rule that applies to an operation in a module. A rule for a module comes first: of those
    /// whose module is this one or contains it, the one with the longest name. Then a rule for the
    /// operation. Null: no rule applies.
    const ForceRule* find(std::string_view module, std::string_view op) const;
    const std::vector<ForceRule>& rules() const { return rules_; }

private:
    std::vector<ForceRule> rules_;  // the most specific first
};

/// Forces types on this thread while it lives; inside it NoAutocast and backward passes suspend
/// them. Null rules: none.
class [[nodiscard]] ForceScope {
public:
    explicit ForceScope(std::shared_ptr<const ForceRules> rules) noexcept;

private:
    std::shared_ptr<const ForceRules> rules_;
    AutocastScope scope_;
};

/// An argument of a call, in the type that its operation declares.
class CallArgument {
public:
    template <typename T>
    explicit CallArgument(const T& value) : type_(&typeid(T)), value_(&value) {}
    /// Null: it has another type.
    template <typename T>
    const T* as() const {
        return *type_ == typeid(T) ? static_cast<const T*>(value_) : nullptr;
    }

private:
    const std::type_info* type_;
    const void* value_;
};

/// A call as its caller made it, for observers.
struct OpCall {
    const Op* info;
    std::span<const Tensor> inputs;  ///< before casts; undefined ones are left out
    const ForceRule* forced;         ///< the rule that decides; null: the operation's policy
    std::span<const CallArgument> arguments;  ///< all, in order; while the call runs
};

namespace detail {

/// Whether a call is observed, or may be forced.
bool intercepts() noexcept;
void note_cached_cast(const Tensor& source, const Tensor& cast);

inline void collect(TensorList& into, const Tensor& tensor) {
    if (tensor.defined()) into.push_back(tensor);
}
inline void collect(TensorList& into, const TensorList& tensors) {
    for (const auto& each : tensors) collect(into, each);
}
template <typename T>
void collect(TensorList&, const T&) {}

inline bool names_type(const std::optional<DType>& dtype) { return dtype.has_value(); }
template <typename T>
bool names_type(const T&) {
    return false;
}

/// Pointers to the tensors of a call, those of lists too.
template <typename... Args>
auto tensors_in(const Args&... args) {
    if constexpr ((std::is_same_v<Args, TensorList> || ...)) {
        std::vector<const Tensor*> out;
        const auto add = [&](const auto& arg) {
            using Arg = std::decay_t<decltype(arg)>;
            if constexpr (std::is_same_v<Arg, Tensor>) out.push_back(&arg);
            if constexpr (std::is_same_v<Arg, TensorList>)
                for (const Tensor& each : arg) out.push_back(&each);
        };
        (add(args), ...);
        return out;
    } else {
        std::array<const Tensor*, (std::size_t{0} + ... + std::is_same_v<Args, Tensor>)> out;
        std::size_t count = 0;
        const auto add = [&](const auto& arg) {
            if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, Tensor>) out[count++] = &arg;
        };
        (add(args), ...);
        return out;
    }
}

/// Casts the eligible arguments of a call.
struct CastTo {
    Device::Kind kind;
    DType type;

    Tensor operator()(const Tensor& tensor) const {
        return eligible(tensor, kind) ? autocast_to(tensor, type) : tensor;
    }
    TensorList operator()(const TensorList& tensors) const {
        TensorList out;
        for (const Tensor& each : tensors) out.push_back((*this)(each));
        return out;
    }
};

inline std::tuple<const Tensor&> if_tensor(const Tensor& tensor) { return {tensor}; }
inline std::tuple<const TensorList&> if_tensor(const TensorList& tensors) { return {tensors}; }
template <typename T>
std::tuple<> if_tensor(const T&) {
    return {};
}

/// The tensors of a call, each through `cast`, from left to right.
template <typename Cast, typename... Args>
auto cast_tensors(const Cast& cast, const Args&... args) {
    const auto all = [&](const auto&... tensors) {
        return std::tuple<std::decay_t<decltype(tensors)>...>{cast(tensors)...};
    };
    return std::apply(all, std::tuple_cat(if_tensor(args)...));
}

/// compute() with the tensors of a call, cast by the op's policy.
template <typename F, typename... Args>
auto run_by_policy(const Op& op, const F& compute, const Args&... args) {
    if (casts_arguments(op.policy) && is_autocast_on()) {
        const auto tensors = tensors_in(args...);
        const int count = static_cast<int>(tensors.size());
        if (const auto kind = active_kind(tensors.data(), count)) {
            const int asked = std::min(count, op.consulted);
            if (const auto type = cast_target(op, *kind, tensors.data(), asked))
                return std::apply(compute, cast_tensors(CastTo{*kind, *type}, args...));
        }
    }
    return std::apply(compute, std::tuple_cat(if_tensor(args)...));
}

template <typename First, typename... Rest>
const auto& last_of(const First& first, const Rest&... rest) {
    if constexpr (sizeof...(Rest) == 0)
        return first;
    else
        return last_of(rest...);
}

/// One call: what decides about it, for the time that it runs.
class Call {
public:
    /// `typed`: its caller gave the type of the result.
    Call(const Op& info, const TensorList& inputs, bool typed,
         std::span<const CallArgument> arguments);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    bool forced() const { return rule_ != nullptr; }
    Device::Kind kind() const { return kind_; }
    Tensor cast(const Tensor& tensor) const;
    TensorList cast(const TensorList& tensors) const;
    template <typename T>
    const T& cast(const T& other) const {
        return other;
    }
    /// Without autocast, a forced operation's result has the type that it would have had.
    void finish(Tensor& result);
    void finish(TensorList& results);
    /// A pair of values and indices.
    template <typename T>
    requires requires(T t) { t.values; }
    void finish(T& results) { finish(results.values); }

private:
    void returned(std::span<const Tensor> outputs);
    void restore(Tensor& result) const;

    const Op& info_;
    bool observed_;
    const ForceRule* rule_ = nullptr;
    Device::Kind kind_ = Device::Kind::cpu;
    std::optional<DType> result_type_;  // to which results go back
};

}  // namespace detail

namespace detail {

/// A call that is observed, or may be forced. A forced one runs with autocast off.
template <typename F, typename... Args>
auto intercepted_call(const Op& op, const F& compute, const Args&... args) {
    TensorList inputs;
    (collect(inputs, args), ...);
    const CallArgument all[] = {CallArgument(args)...};  // and compute
    Call call(op, inputs, (names_type(args) || ...), std::span(all).first(sizeof...(Args) - 1));
    auto result = [&] {
        if (!call.forced() || op.casts_result) return run_by_policy(op, compute, args...);
        const auto cast =
            cast_tensors([&](const auto& tensor) { return call.cast(tensor); }, args...);
        const NoAutocast off(call.kind());
        return std::apply(compute, cast);
    }();
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
        if (call.forced() && op.casts_result) result = call.cast(result);
    }
    call.finish(result);
    return result;
}

}  // namespace detail

/// Whether types of this thread's operations are forced. What is computed together runs as single
/// operations only then.
inline bool types_are_forced() noexcept { return autocast_state().force != nullptr; }

template <typename... Args>
auto Op::call(const Args&... args) const {
    const auto& compute = detail::last_of(args...);
    if ((detail::observed || types_are_forced()) && detail::intercepts()) [[unlikely]]
        return detail::intercepted_call(*this, compute, args...);
    return detail::run_by_policy(*this, compute, args...);
}

}  // namespace engine
