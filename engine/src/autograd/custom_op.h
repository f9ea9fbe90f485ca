#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tape.h"

namespace engine {

/// An argument of a custom op: a tensor, a value that is passed through unchanged, or a list or map
/// of arguments.
struct CustomArgument {
    std::variant<Tensor, double, std::string, std::vector<double>, std::vector<CustomArgument>,
                 std::map<std::string, CustomArgument>>
        value;
};
using CustomArguments = std::vector<CustomArgument>;

/// An op with a user-defined gradient (autocast.md#interplay, 1.7). It joins the graph as one node;
/// operations inside forward are not recorded.
class CustomOp {
public:
    /// `keep`: tensors that backward will be given.
    using Forward = std::function<TensorList(const CustomArguments& args, TensorList& keep)>;
    /// Gradients by the tensors of the arguments, in order of their appearance; an undefined one is
    /// zero.
    using Backward =
        std::function<TensorList(std::span<const Tensor> grads, const TensorList& kept)>;

    /// Plain: forward runs under the caller's autocast state; backward runs under the same flags
    /// and types, wherever it is called. Forced to `forced`: in a region, eligible tensors among
    /// the arguments, also nested ones, are cast to it first, and forward and backward run with
    /// autocast off; outside a region nothing is cast. `info` must outlive every graph made.
    CustomOp(const OpInfo& info, Forward forward, Backward backward,
             std::optional<DType> forced = {});

    TensorList operator()(const CustomArguments& args) const;

private:
    TensorList run(const CustomArguments& args) const;

    const OpInfo& info_;
    Forward forward_;
    Backward backward_;
    std::optional<DType> forced_;
};

}  // namespace engine
