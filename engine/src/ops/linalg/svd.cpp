#include "ops/linalg/svd.h"

#include <algorithm>

#include "amp/autocast.h"
#include "kernels/svd.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/constant.h"
#include "tensor/layout.h"

namespace engine {
namespace {

const OpInfo svd_info{"svd", CastPolicy::none, "svd(x)", 2, "Runs in its input's type."};

/// s (b, k) broadcast along the columns of (b, ., k).
Tensor across(const Tensor& s) { return reshape(s, {s.size(0), 1, s.size(1)}); }
/// s (b, k) broadcast along the rows of (b, k, .).
Tensor down(const Tensor& s) { return reshape(s, {s.size(0), s.size(1), 1}); }

/// (k, k), 1 on the diagonal.
Tensor identity(std::int64_t k, const Tensor& like) {
    const Tensor host = Tensor::zeros({k, k}, DType::f64, Device{});
    for (std::int64_t i = 0; i < k; ++i) host.data_as<double>()[i * (k + 1)] = 1;
    return constant_on(like.device(), to(host, like.dtype()));
}

/// (w^T g - g^T w) / (s_j^2 - s_i^2), 0 on the diagonal: how much the columns of w rotate into each
/// other.
Tensor turning(const Tensor& w, const Tensor& g, const Tensor& s, const Tensor& one) {
    const Tensor overlap = product(w, true, g, false);
    const Tensor skew = sub(overlap, transpose(overlap, 1, 2));
    const Tensor gaps = mul(sub(across(s), down(s)), add(across(s), down(s)));
    return div(skew, add(gaps, one));
}

/// (g - w w^T g) / s: what leaves the space of w's columns.
Tensor leaving(const Tensor& w, const Tensor& g, const Tensor& s) {
    const Tensor within = product(w, false, product(w, true, g, false), false);
    return div(sub(g, within), across(s));
}

/// Townsend, "Differentiating the singular value decomposition" (2016).
Tensor svd_gradient(std::span<const Tensor> grads, const Tensor& u, const Tensor& s,
                    const Tensor& v) {
    const NoAutocast inside(s.device().kind);
    const std::int64_t k = s.size(1);
    const Tensor one = identity(k, s);
    Tensor core;
    const auto add_to = [](Tensor& sum, const Tensor& part) {
        sum = sum.defined() ? add(sum, part) : part;
    };
    if (grads[0].defined()) add_to(core, mul(turning(u, grads[0], s, one), across(s)));
    if (grads[1].defined()) add_to(core, mul(one, across(grads[1])));
    if (grads[2].defined()) add_to(core, mul(down(s), turning(v, grads[2], s, one)));
    if (!core.defined()) return {};
    Tensor dx = product(product(u, false, core, false), false, v, true);
    if (grads[0].defined() && u.size(1) > k)
        add_to(dx, product(leaving(u, grads[0], s), false, v, true));
    if (grads[2].defined() && v.size(1) > k)
        add_to(dx, product(u, false, leaving(v, grads[2], s), true));
    return dx;
}

}  // namespace

SingularValues svd(const Tensor& x) {
    const std::int64_t count = x.size(0), m = x.size(1), n = x.size(2), k = std::min(m, n);
    const Device host;
    Tensor u = Tensor::empty({count, m, k}, DType::f64, host);
    Tensor s = Tensor::empty({count, k}, DType::f64, host);
    Tensor v = Tensor::empty({count, n, k}, DType::f64, host);
    {
        const GradMode off(false);
        const Tensor on_host = in_layout(to(x, DType::f64), Layout::contiguous).copy_to(host);
        kernels::cpu::svd(u.data_as<double>(), s.data_as<double>(), v.data_as<double>(),
                          on_host.data_as<double>(), count, m, n);
        const auto back = [&](const Tensor& y) { return to(y.copy_to(x.device()), x.dtype()); };
        u = back(u);
        s = back(s);
        v = back(v);
    }
    TensorList y = record_outputs(
        svd_info, {&x, 1}, {u, s, v}, {save_output(u, 0), save_output(s, 1), save_output(v, 2)},
        [](std::span<const Tensor> grads, const Saved& saved) {
            return TensorList{svd_gradient(grads, saved[0], saved[1], saved[2])};
        });
    return {y[0], y[1], y[2]};
}

}  // namespace engine
