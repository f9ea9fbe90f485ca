#include "autograd/second_derivative.h"

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "tensor/cast.h"

namespace engine::detail {
namespace {

/// t in f32 (f64 for f64) as a leaf of a graph of its own.
Tensor wide_leaf(const Tensor& t) {
    if (!t.defined()) return t;
    return to(t.detach(), wide_type(t.dtype())).detach().set_requires_grad(true);
}

TensorList defined(const TensorList& list) {
    TensorList out;
    for (const auto& t : list) {
        if (t.defined()) out.push_back(t);
    }
    return out;
}

/// Forward's gradients by its inputs, recorded.
TensorList first_derivative(const TensorList& outputs, const TensorList& seeds,
                            const TensorList& inputs) {
    TensorList from, with;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!seeds[i].defined()) continue;
        from.push_back(outputs[i]);
        with.push_back(seeds[i]);
    }
    return grad(from, defined(inputs), with, {.create_graph = true}, true);
}

}  // namespace

TensorList second_derivative(std::span<const Tensor> grads, const Saved& saved, int count,
                             int outputs,
                             const std::function<TensorList(const TensorList&)>& forward) {
    const NoAutocast inside(saved[outputs].device().kind);
    TensorList leaves;
    {
        const GradMode off(false);
        for (int i = 0; i < count; ++i) leaves.push_back(wide_leaf(saved[i]));
    }
    const GradMode recorded(true);
    const TensorList seeds(leaves.begin(), leaves.begin() + outputs);
    const TensorList inputs(leaves.begin() + outputs, leaves.end());
    const TensorList first = first_derivative(forward(inputs), seeds, inputs);
    TensorList roots, root_seeds;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!grads[i].defined() || !first[i].defined() || !first[i].requires_grad()) continue;
        roots.push_back(first[i]);
        root_seeds.push_back(widened(grads[i].detach()));
    }
    TensorList out(leaves.size());
    if (roots.empty()) return out;
    const GradMode off(false);
    const TensorList found = grad(roots, defined(leaves), root_seeds, {}, true);
    for (std::size_t i = 0, k = 0; i < leaves.size(); ++i) {
        if (!leaves[i].defined()) continue;
        if (found[k].defined()) out[i] = to(found[k], saved[static_cast<int>(i)].dtype());
        ++k;
    }
    return out;
}

}  // namespace engine::detail
