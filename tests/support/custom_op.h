#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "amp/autocast.h"
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
    CustomOp(const Op& info, Forward forward, Backward backward,
             std::optional<DType> forced = {});

    TensorList operator()(const CustomArguments& args) const;

private:
    TensorList run(const CustomArguments& args) const;

    const Op& info_;
    Forward forward_;
    Backward backward_;
    std::optional<DType> forced_;
};

namespace custom {

/// Calls f on every tensor of the arguments, nested ones too, in order.
template <typename Argument, typename F>
void each_tensor(Argument& argument, F&& f) {
    const auto visit = [&](auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
            f(value);
        } else if constexpr (std::is_same_v<T, std::vector<CustomArgument>>) {
            for (auto& member : value) each_tensor(member, f);
        } else if constexpr (std::is_same_v<T, std::map<std::string, CustomArgument>>) {
            for (auto& [name, member] : value) each_tensor(member, f);
        }
    };
    std::visit(visit, argument.value);
}

inline TensorList collect_tensors(const CustomArguments& args) {
    TensorList found;
    for (const auto& arg : args) each_tensor(arg, [&](const Tensor& t) { found.push_back(t); });
    return found;
}

inline Device::Kind kind_of(const TensorList& tensors) {
    for (const auto& tensor : tensors) {
        if (tensor.defined()) return tensor.device().kind;
    }
    return Device::Kind::cpu;
}

/// Kept for backward: an output is kept outside the graph, since a node must not own what it made.
inline std::vector<Save> to_saves(const TensorList& keep, const TensorList& outputs) {
    std::vector<Save> saves;
    for (const auto& tensor : keep) {
        const auto output = std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& t) {
            return tensor.defined() && t.impl() == tensor.impl();
        });
        saves.push_back(output == outputs.end()
                            ? save(tensor)
                            : save_output(tensor, static_cast<int>(output - outputs.begin())));
    }
    return saves;
}

}  // namespace custom

inline CustomOp::CustomOp(const Op& info, Forward forward, Backward backward,
                          std::optional<DType> forced)
    : info_(info), forward_(std::move(forward)), backward_(std::move(backward)), forced_(forced) {}

inline TensorList CustomOp::operator()(const CustomArguments& args) const {
    const Device::Kind kind = custom::kind_of(custom::collect_tensors(args));
    if (!forced_ || !autocast_enabled(kind)) return run(args);
    CustomArguments cast = args;
    for (auto& arg : cast) {
        custom::each_tensor(arg, [&](Tensor& t) {
            if (eligible(t, kind)) t = autocast_to(t, *forced_);
        });
    }
    const NoAutocast inside(kind);
    return run(cast);
}

inline TensorList CustomOp::run(const CustomArguments& args) const {
    const TensorList inputs = custom::collect_tensors(args);
    TensorList keep, outputs;
    {
        const GradMode off(false);
        outputs = forward_(args, keep);
        for (auto& output : outputs) {
            const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
                return t.impl() == output.impl();
            });
            if (is_input) output = output.detach();  // an input has a place in the graph already
        }
    }
    const std::size_t kept_count = keep.size();
    return record_outputs(info_, inputs, outputs, custom::to_saves(keep, outputs),
                          [state = autocast_state(), backward = backward_, kept_count](
                              std::span<const Tensor> grads, const Saved& saved) {
                              const AutocastSnapshot as_in_forward(state);
                              TensorList kept;
                              for (std::size_t i = 0; i < kept_count; ++i)
                                  kept.push_back(saved[static_cast<int>(i)]);
                              return backward(grads, kept);
                          });
}

}  // namespace engine
