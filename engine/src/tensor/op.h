#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// How autocast treats an op (autocast.md#policies, 1.4). There is no default: an op without a
/// policy does not compile.
enum class CastPolicy { none, low, f32, f32_dtype, f32_append, promote, banned };
const char* name(CastPolicy policy);

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
    std::optional<DType> dtype(const std::string& attr = "dtype") const;
};

using OpRunner = TensorList (*)(const OpArguments&);

/// The description of an op; one constant per op, listed in ops/catalog/catalog.cpp.
struct OpInfo {
    const char* name;
    CastPolicy policy;
    const char* signature;   // "linear(x, weight, bias?)"
    int derivatives;         // orders that exist: 0, 1, 2
    const char* why;         // the policy, explained to a learner
    OpRunner run = nullptr;  // for `halftone op`; null for an op that only gradients call
    bool flushes_subnormals = false;
};

}  // namespace engine
