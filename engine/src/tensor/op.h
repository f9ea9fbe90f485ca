#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// How autocast treats an op (autocast.md#policies, 1.4). There is no default: an op without a
/// policy does not compile.
enum class CastPolicy { none, low, f32, f32_dtype, f32_append, promote, banned };
template <>
inline constexpr std::array enum_names<CastPolicy> = {
    "none", "low", "f32", "f32_dtype", "f32_append", "promote", "banned"};

/// Non-tensor arguments of an op given by name, as PyTorch names them.
using AttrValue = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                               std::vector<std::int64_t>, std::vector<double>>;

/// Arguments of one call through `halftone op`: tensors by position, the rest by name.
class OpArguments {
public:
    std::map<int, Tensor> tensors;
    std::map<int, TensorList> lists;
    std::map<std::string, AttrValue> attrs;

    /// Argument `i`; throws Error(value) if it was not given.
    const Tensor& at(int i) const;
    /// Argument `i`, or undefined.
    Tensor get(int i) const;
    bool has(const std::string& attr) const;
    std::int64_t integer(const std::string& attr, std::int64_t otherwise) const;
    double number(const std::string& attr, double otherwise) const;
    bool flag(const std::string& attr, bool otherwise) const;
    std::string text(const std::string& attr, const std::string& otherwise) const;
    std::vector<std::int64_t> integers(const std::string& attr,
                                       std::vector<std::int64_t> otherwise) const;
    /// A list of numbers, whole or not; empty if it was not given.
    std::vector<double> numbers(const std::string& attr) const;
    std::optional<DType> dtype(const std::string& attr = "dtype") const;
};

struct Op;
using OpRunner = TensorList (*)(const Op&, const OpArguments&);

/// Reason of an op that autocast leaves alone.
inline constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";

/// Properties in which few ops differ.
struct OpTraits {
    int derivatives = 2;  ///< orders that exist
    /// Whether precision.force can set the op's type. Not so for views and copies, choices by
    /// index, boolean and integer results, in-place forms, and aliases of other ops.
    bool forceable = true;
    /// Copies values: a forced type casts the result, which gives the same numbers as casting the
    /// arguments.
    bool casts_result = false;
    /// A product of another policy than low whose bf16 instruction flushes subnormals.
    bool flushes_subnormals = false;
    /// How many tensors, from the first on, decide the type of policy promote; all are cast.
    int consulted = 16;
};

/// For views, copies, choices by index, in-place forms and aliases.
inline constexpr OpTraits not_forced{.forceable = false};
/// For boolean and integer results.
inline constexpr OpTraits no_gradient{.derivatives = 0, .forceable = false};

/// An operation: one constant each, beside the declaration of its function
/// (decisions.md#operation-is-one-object, D20).
struct Op {
    /// `signature` names the arguments, tensors first, each kind in the order of the C++ function:
    /// "softplus(x, weight?, others[]; beta=1, dim=None, size)". The name stands before the
    /// parenthesis; `?` marks a tensor that may be missing, and an attribute without a default must
    /// be given. Defaults are None, True, False, numbers, words and lists of whole numbers.
    constexpr Op(CastPolicy cast_policy, std::string_view arguments, std::string_view reason,
                 OpRunner runner, OpTraits traits = {})
        : name(arguments.substr(0, arguments.find('('))),
          policy(cast_policy),
          signature(arguments),
          why(reason),
          derivatives(traits.derivatives),
          flushes_subnormals(traits.flushes_subnormals),
          forceable(traits.forceable),
          casts_result(traits.casts_result),
          consulted(traits.consulted),
          runner_(runner) {}
    /// An op that only gradients and other ops call.
    constexpr explicit Op(std::string_view arguments, std::string_view reason = no_entry,
                          OpTraits traits = {})
        : Op(CastPolicy::none, arguments, reason, nullptr, traits) {}

    std::string_view name;
    CastPolicy policy;
    std::string_view signature;
    std::string_view why;  ///< the policy, explained to a learner
    int derivatives;
    bool flushes_subnormals;
    bool forceable;
    bool casts_result;
    int consulted;

    /// False for an op that only gradients and other ops call.
    bool is_callable() const { return runner_ != nullptr; }
    /// For `halftone op`.
    TensorList call_by_name(const OpArguments& args) const { return runner_(*this, args); }
    /// call(x, weight, dim, compute) runs compute(x, weight): the last argument is a function of
    /// the tensors, which are cast by the policy before; it captures the others. An observer
    /// receives all arguments, and a forced type replaces the policy. Defined in amp/dispatch.h.
    template <typename... Args>
    auto call(const Args&... args) const;

private:
    OpRunner runner_;  // null: not callable
};

/// Runner for `halftone op` that follows from the type of f and the op's signature. A struct of
/// attributes has a member read(from), which names them: from("eps", eps)("p", p). Defined in
/// ops/catalog/by_name.h, which only the catalog includes, so that each is compiled once.
template <auto f>
TensorList by_name(const Op& op, const OpArguments& args);
/// For one of several overloads: by_name_as<Tensor(const Tensor&, double), pow>.
template <typename S, S* f>
TensorList by_name_as(const Op& op, const OpArguments& args);

}  // namespace engine
