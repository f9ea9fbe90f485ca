#pragma once

#include <array>
#include <functional>

#include "kernels/multi_tensor_update.h"
#include "kernels/support.h"

namespace kernels::test {

/// The tensors of an update, with their scalars: two groups, various sizes, and separate step
/// counts, some of which start with this update.
struct OptimizerProblem {
    struct Types {
        DType master, grad, state, low;
    };
    struct Tensor {
        Buffer master, grad, state1, state2, state3, low;
        int group;
    };

    OptimizerProblem(const Types& types, const std::vector<std::int64_t>& lengths, bool one_norm,
                     unsigned seed = 1)
        : one_norm_state(one_norm) {
        for (const std::int64_t size : lengths) {
            const bool wide = types.master == DType::f64;
            tensors.push_back({random_buffer(types.master, size, seed),
                               random_buffer(types.grad, size, seed + 1, 0, 10),
                               random_buffer(types.state, size, seed + 2, 2, 0.3),
                               one_norm ? Buffer(wide ? DType::f64 : DType::f32, {1.75})
                                        : random_buffer(types.state, size, seed + 3, 2, 0.1),
                               random_buffer(types.state, size, seed + 4, 2, 0.1),
                               Buffer(types.low, size), static_cast<int>(tensors.size() % 2)});
            own_steps.push_back(std::array{2, 1, 1, 1}[own_steps.size() % 4]);
            seed += 10;
        }
    }

    std::vector<UpdateTensor> list() {
        std::vector<UpdateTensor> out;
        for (Tensor& t : tensors)
            out.push_back({t.master, t.grad, t.state1, t.state2, t.low, t.state3, t.group,
                           static_cast<int>(out.size()), behind_low});
        return out;
    }
    UpdateScalars scalars() const {
        return {.lr = lr,
                .grad_scale = &scale,
                .clip = &clip,
                .found_inf = &found_inf,
                .step = steps,
                .own_step = own_steps.data(),
                .write_grads = write_grads,
                .weight_decay = decays,
                .larc = larc};
    }

    std::vector<Tensor> tensors;
    bool one_norm_state;  ///< the second state of NovoGrad is one norm
    float lr[2] = {0.0625f, 0.03f};
    double decays[2] = {0.1, 0.0};
    std::int64_t steps[2] = {3, 1};
    std::vector<std::int64_t> own_steps;
    float scale = 8, clip = 0.5f, found_inf = 0;
    bool write_grads = false;
    bool behind_low = false;
    Larc larc{};
};

/// The tensor in plain f64.
struct ReferenceTensor {
    std::vector<double> p, g, s1, s2, s3;
    double lr, decay, step, own_step;
};
using OptimizerReference = std::vector<ReferenceTensor>;

inline double norm_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v * v;
    return std::sqrt(sum);
}

/// Reads the problem and computes what precedes every update: unscaling, clipping, LARC.
inline OptimizerReference reference_of(const OptimizerProblem& problem) {
    OptimizerReference out;
    for (const auto& t : problem.tensors) {
        const auto k = static_cast<std::size_t>(t.group);
        ReferenceTensor r{t.master.values(),
                          t.grad.values(),
                          t.state1.values(),
                          t.state2.values(),
                          t.state3.values(),
                          static_cast<double>(problem.lr[k]),
                          problem.decays[k],
                          static_cast<double>(problem.steps[k]),
                          static_cast<double>(problem.own_steps[out.size()])};
        for (double& g : r.g)
            g = g / static_cast<double>(problem.scale) * static_cast<double>(problem.clip);
        if (problem.larc.on) {
            const Larc& larc = problem.larc;
            const double np = norm_of(r.p), ng = norm_of(r.g);
            if (np != 0 && ng != 0) {
                double rate = larc.trust * np / (ng + np * r.decay + larc.eps);
                if (larc.clip) rate = std::min(rate / r.lr, 1.0);
                for (std::size_t i = 0; i < r.g.size(); ++i)
                    r.g[i] = (r.g[i] + r.decay * r.p[i]) * rate;
            }
            r.decay = 0;
        }
        out.push_back(std::move(r));
    }
    return out;
}

inline void adam_reference(OptimizerReference& all, const AdamOptions& o) {
    for (ReferenceTensor& t : all) {
        const double c1 = o.bias_correction ? 1 - std::pow(o.beta1, t.own_step) : 1;
        const double c2 = o.bias_correction ? 1 - std::pow(o.beta2, t.own_step) : 1;
        for (std::size_t i = 0; i < t.p.size(); ++i) {
            const double g = o.decoupled ? t.g[i] : t.g[i] + t.decay * t.p[i];
            t.s1[i] = o.beta1 * t.s1[i] + (1 - o.beta1) * g;
            t.s2[i] = o.beta2 * t.s2[i] + (1 - o.beta2) * g * g;
            if (o.amsgrad) t.s3[i] = std::max(t.s3[i], t.s2[i]);
            const double v = o.amsgrad ? t.s3[i] : t.s2[i];
            const double u = (t.s1[i] / c1) / (std::sqrt(v / c2) + o.eps);
            t.p[i] -= t.lr * (o.decoupled ? u + t.decay * t.p[i] : u);
        }
    }
}

inline void adagrad_reference(OptimizerReference& all, const AdagradOptions& o) {
    for (ReferenceTensor& t : all) {
        const double rate = t.lr / (1 + (t.own_step - 1) * o.lr_decay);
        for (std::size_t i = 0; i < t.p.size(); ++i) {
            const double g = o.decoupled ? t.g[i] : t.g[i] + t.decay * t.p[i];
            t.s1[i] += g * g;
            const double u = g / (std::sqrt(t.s1[i]) + o.eps);
            t.p[i] -= rate * (o.decoupled ? u + t.decay * t.p[i] : u);
        }
    }
}

inline void lamb_reference(OptimizerReference& all, const LambOptions& o) {
    double squares = 0;
    for (const ReferenceTensor& t : all) squares += norm_of(t.g) * norm_of(t.g);
    const double norm = std::sqrt(squares);
    const double clip = o.max_grad_norm > 0 && norm > o.max_grad_norm ? norm / o.max_grad_norm : 1;
    for (ReferenceTensor& t : all) {
        const double c1 = o.bias_correction ? 1 - std::pow(o.beta1, t.step) : 1;
        const double c2 = o.bias_correction ? 1 - std::pow(o.beta2, t.step) : 1;
        const double b3 = o.average_gradients ? 1 - o.beta1 : 1;
        std::vector<double> u(t.p.size());
        for (std::size_t i = 0; i < t.p.size(); ++i) {
            const double s = t.g[i] / clip + (o.decoupled ? 0 : t.decay * t.p[i]);
            t.s1[i] = o.beta1 * t.s1[i] + b3 * s;
            t.s2[i] = o.beta2 * t.s2[i] + (1 - o.beta2) * s * s;
            u[i] = (t.s1[i] / c1) / (std::sqrt(t.s2[i] / c2) + o.eps) +
                   (o.decoupled ? t.decay * t.p[i] : 0);
        }
        const double np = norm_of(t.p), nu = norm_of(u);
        const bool trusts = (o.nvlamb || t.decay != 0) && np != 0 && nu != 0;
        for (std::size_t i = 0; i < t.p.size(); ++i) t.p[i] -= t.lr * (trusts ? np / nu : 1) * u[i];
    }
}

inline void novograd_reference(OptimizerReference& all, const NovoGradOptions& o) {
    for (ReferenceTensor& t : all) {
        if (t.p.empty()) continue;
        double norm = norm_of(t.g);
        if (o.norm == NormKind::largest) {
            norm = 0;
            for (const double g : t.g) norm = std::max(norm, std::fabs(g));
        }
        double& n = t.s2[0];
        if (t.own_step == 1 && !o.init_zero) n = norm;
        n = o.norm == NormKind::l2 ? std::sqrt(o.beta2 * n * n + (1 - o.beta2) * norm * norm)
                                   : o.beta2 * n + (1 - o.beta2) * norm;
        const double c1 = o.bias_correction ? 1 - std::pow(o.beta1, t.step) : 1;
        const double c2 = o.bias_correction ? std::sqrt(1 - std::pow(o.beta2, t.step)) : 1;
        const double b3 = o.average_gradients ? 1 - o.beta1 : 1;
        for (std::size_t i = 0; i < t.p.size(); ++i) {
            if (o.regularise_inside) {
                const double q = t.g[i] / (n / c2 + o.eps) + t.decay * t.p[i];
                t.s1[i] = o.beta1 * t.s1[i] + b3 * q;
                t.p[i] -= t.lr * t.s1[i] / c1;
            } else {
                t.s1[i] = o.beta1 * t.s1[i] + b3 * t.g[i];
                t.p[i] -= t.lr * ((t.s1[i] / c1) / (n / c2 + o.eps) + t.decay * t.p[i]);
            }
        }
    }
}

inline void sgd_reference(OptimizerReference& all, const SgdOptions& o) {
    for (ReferenceTensor& t : all) {
        for (std::size_t i = 0; i < t.p.size(); ++i) {
            double g = t.g[i] + (o.decay_after_momentum ? 0 : t.decay * t.p[i]);
            t.s1[i] = o.dampening != 0 && t.own_step == 1
                          ? g
                          : o.momentum * t.s1[i] + (1 - o.dampening) * g;
            g = o.nesterov ? g + o.momentum * t.s1[i] : t.s1[i];
            if (o.decay_after_momentum) g += t.decay * t.p[i];
            t.p[i] -= t.lr * g;
        }
    }
}

/// One update of every optimizer, in all variants.
struct OptimizerCase {
    const char* name;
    bool one_norm;
    std::function<void(std::span<const UpdateTensor>, const UpdateScalars&, UpdateCounts*)> cpu,
        cuda;
    std::function<void(OptimizerReference&)> reference;
};

template <class Options, class Cpu, class Cuda, class Reference>
OptimizerCase optimizer_case(const char* name, const Options& o, const Cpu& on_cpu,
                             const Cuda& on_cuda, const Reference& reference,
                             bool one_norm = false) {
    return {name, one_norm,
            [=](auto list, const UpdateScalars& s, UpdateCounts* c) { on_cpu(list, o, s, c, {}); },
            [=](auto list, const UpdateScalars& s, UpdateCounts* c) { on_cuda(list, o, s, c, {}); },
            [=](OptimizerReference& all) { reference(all, o); }};
}

inline std::vector<OptimizerCase> optimizer_cases() {
    std::vector<OptimizerCase> out;
    const auto sgd = [&](const char* name, const SgdOptions& o) {
        out.push_back(
            optimizer_case(name, o, cpu::multi_tensor_sgd, cuda::multi_tensor_sgd, sgd_reference));
    };
    sgd("sgd dampening", {.momentum = 0.9, .dampening = 0.25});
    sgd("sgd decay after momentum", {.momentum = 0.9, .decay_after_momentum = true});
    const auto adam = [&](const char* name, const AdamOptions& o) {
        out.push_back(optimizer_case(name, o, cpu::multi_tensor_adam, cuda::multi_tensor_adam,
                                     adam_reference));
    };
    adam("adamw", {.decoupled = true});
    adam("adam", {});
    adam("adam amsgrad", {.amsgrad = true});
    adam("adamw amsgrad", {.amsgrad = true, .decoupled = true});
    adam("adamw without correction", {.bias_correction = false, .decoupled = true});
    const auto adagrad = [&](const char* name, const AdagradOptions& o) {
        out.push_back(optimizer_case(name, o, cpu::multi_tensor_adagrad, cuda::multi_tensor_adagrad,
                                     adagrad_reference));
    };
    adagrad("adagrad", {});
    adagrad("adagrad decay", {.lr_decay = 0.25});
    adagrad("adagrad decoupled", {.decoupled = true});
    const auto lamb = [&](const char* name, const LambOptions& o) {
        out.push_back(optimizer_case(name, o, cpu::multi_tensor_lamb, cuda::multi_tensor_lamb,
                                     lamb_reference));
    };
    lamb("lamb", {});
    lamb("lamb l2", {.decoupled = false});
    lamb("lamb nvlamb", {.max_grad_norm = 0, .nvlamb = true});
    lamb("lamb plain", {.bias_correction = false, .average_gradients = false});
    const auto novograd = [&](const char* name, NovoGradOptions o) {
        // Slower than the defaults, so that some updates of every case are too small to count.
        o.beta1 = 0.9;
        o.beta2 = 0.999;
        out.push_back(optimizer_case(name, o, cpu::multi_tensor_novograd,
                                     cuda::multi_tensor_novograd, novograd_reference, true));
    };
    novograd("novograd", {});
    novograd("novograd largest", {.norm = NormKind::largest});
    novograd("novograd zero", {.init_zero = true});
    novograd("novograd inside", {.average_gradients = false, .regularise_inside = true});
    novograd("novograd plain", {.bias_correction = false});
    return out;
}

inline const std::vector<OptimizerProblem::Types> optimizer_types = {
    {DType::f32, DType::f32, DType::f32, DType::f16},
    {DType::f32, DType::f16, DType::f32, DType::bf16},
    {DType::f16, DType::f16, DType::f32, DType::f16},
    {DType::bf16, DType::bf16, DType::f32, DType::bf16},
    {DType::f64, DType::f64, DType::f64, DType::f16},
    {DType::f32, DType::f64, DType::f32, DType::f16},
};

inline const std::vector<Larc> larcs = {
    {}, {.on = true, .trust = 0.02}, {.on = true, .clip = false, .trust = 0.5}};

}  // namespace kernels::test
