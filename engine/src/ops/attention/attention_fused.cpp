#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "kernels/attention.h"
#include "ops/attention/attention_parts.h"
#include "tensor/layout.h"

namespace engine::detail {
namespace {

using kernels::Attention;
using kernels::AttentionPass;
using kernels::AttentionStrides;

constexpr auto aligned_elements = static_cast<std::int64_t>(kernels::cuda::attention_alignment / 2);

bool is_aligned(const Tensor& x) {
    const auto address = reinterpret_cast<std::uintptr_t>(x.data());
    if (address % kernels::cuda::attention_alignment != 0 || x.strides()[3] != 1) return false;
    for (int i = 0; i < 3; ++i) {
        const std::int64_t stride = x.strides()[i];
        if (x.size(i) > 1 && (stride <= 0 || stride % aligned_elements != 0)) return false;
    }
    return true;
}

/// The CPU's kernel takes any rows that do not overlap.
bool has_rows(const Tensor& x) {
    return x.strides()[3] == 1 && (x.size(2) == 1 || x.strides()[2] >= x.size(3));
}

bool is_cuda(const Tensor& x) { return x.device().kind == Device::Kind::cuda; }

/// Whether the heads of one position are contiguous, as in the operands and results of one product.
bool by_position(const Tensor& x) { return x.strides()[1] < x.strides()[2]; }

/// The strides of a dense tensor of shape (N, H, rows, size) in x's order of heads and positions.
AttentionStrides dense_strides(const Shape& shape, const Tensor& x) {
    const std::int64_t heads = shape[1], rows = shape[2], size = shape[3];
    if (by_position(x)) return {rows * heads * size, size, heads * size};
    return {heads * rows * size, rows * size, size};
}

/// Uninitialised, in that order.
Tensor empty_heads(const Shape& shape, const Tensor& x) {
    const Tensor y = Tensor::empty(shape, x.dtype(), x.device());
    const AttentionStrides s = dense_strides(shape, x);
    return view_of(y, shape, {s.batch, s.head, s.row, 1}, 0);
}

/// x outside the graph as the kernel takes it, copied if need be.
Tensor operand(const Tensor& x) {
    if (is_cuda(x) ? is_aligned(x) : has_rows(x)) return x.detach();
    const Tensor y = empty_heads(x.shape(), x);
    copy_into(y, x);
    return y;
}

AttentionStrides strides(const Tensor& x) {
    return {x.strides()[0], x.strides()[1], x.strides()[2]};
}

Attention describe_forward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& y,
                           const AttentionOptions& options) {
    Attention a;
    a.dtype = q.dtype();
    a.batch = q.size(0);
    a.heads = q.size(1);
    a.kv_heads = k.size(1);
    a.queries = q.size(2);
    a.keys = k.size(2);
    a.qk_size = q.size(3);
    a.v_size = v.size(3);
    a.scale =
        static_cast<float>(options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))));
    a.causal = options.is_causal;
    a.q = strides(q);
    a.k = strides(k);
    a.v = strides(v);
    a.y = strides(y);
    return a;
}

/// The description of the backward pass; gradients have the strides of their operands.
Attention describe_backward(Attention a, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& dy) {
    a.pass = AttentionPass::backward;
    a.dy = strides(dy);
    a.dq = dense_strides(q.shape(), q);
    a.dk = dense_strides(k.shape(), k);
    a.dv = dense_strides(v.shape(), v);
    return a;
}

/// Given back as soon as the work is on the stream, which is in order.
struct Scratch {
    Tensor tensor;
    Scratch(std::size_t bytes, const Device& device) {
        const UseScope use(MemoryUse::workspace);
        if (bytes > 0)
            tensor = Tensor::empty({static_cast<std::int64_t>(bytes)}, DType::u8, device);
    }
    void* data() const { return tensor.defined() ? tensor.data() : nullptr; }
};

constexpr Op attention_backward_op("attention_backward(dy, q, k, v, y, logsumexp)",
                                   "Its inputs have the forward op's types.", {.derivatives = 0});

/// Gradients of q, k and v by the kernel; empty if there is none for dy's strides.
TensorList by_kernel(const Tensor& dy0, const Saved& saved, const AttentionOptions& options) {
    const DeviceScope here(dy0.device());
    const Tensor q = operand(saved[0]), k = operand(saved[1]), v = operand(saved[2]);
    const Tensor y = saved[3].detach(), logsumexp = saved[4], dy = operand(dy0);
    const Attention a = describe_backward(describe_forward(q, k, v, y, options), q, k, v, dy);
    const auto bytes = kernels::cuda::attention_workspace(a);
    if (!bytes) return {};
    const Tensor dq = empty_heads(q.shape(), q), dk = empty_heads(k.shape(), k),
                 dv = empty_heads(v.shape(), v);
    const Scratch scratch(*bytes, q.device());
    kernels::cuda::attention_backward(a,
                                      {q.data(), k.data(), v.data(), y.data(), dy.data(),
                                       logsumexp.data_as<float>(), dq.data(), dk.data(), dv.data()},
                                      scratch.data(), current_stream());
    const Tensor inputs[] = {dy, q, k, v, y, logsumexp};
    return record_outputs(attention_backward_op, inputs, {dq, dk, dv}, {}, {});
}

/// Its numbers are those of the step in which the mask is drawn, and of the places that a rank's
/// part of the weights has in those of the whole batch.
kernels::AttentionDropout dropout_of(const AttentionOptions& options, const Tensor& q,
                                     const Tensor& k) {
    if (options.dropout_p == 0) return {};
    const std::int64_t weights = q.size(0) * q.size(1) * q.size(2) * k.size(2);
    const std::int64_t before = options.random->share.before(weights);
    kernels::MaskSource source{options.random->stream, nullptr,
                               options.random_offset + static_cast<std::uint64_t>(before)};
    if (const std::int64_t* const substream = options.random->substream_data())
        source.random.substream = static_cast<std::uint32_t>(*substream);
    return {source, options.dropout_p};
}

/// Gradients by the CPU's kernel, which computes the weights again.
TensorList by_cpu_kernel(const Tensor& dy0, const Saved& saved, const AttentionOptions& options,
                         const kernels::AttentionDropout& dropout) {
    const Tensor q = operand(saved[0]), k = operand(saved[1]), v = operand(saved[2]),
                 dy = operand(dy0);
    const Attention a = describe_backward(describe_forward(q, k, v, dy, options), q, k, v, dy);
    const Tensor dq = empty_heads(q.shape(), q), dk = empty_heads(k.shape(), k),
                 dv = empty_heads(v.shape(), v);
    kernels::cpu::attention_backward(a,
                                     {q.data(), k.data(), v.data(), nullptr, dy.data(), nullptr,
                                      dq.data(), dk.data(), dv.data()},
                                     dropout);
    const Tensor inputs[] = {dy, q, k, v};
    return record_outputs(attention_backward_op, inputs, {dq, dk, dv}, {}, {});
}

TensorList cpu_gradients(const Tensor& dy, const Saved& saved, const AttentionOptions& options,
                         const kernels::AttentionDropout& dropout) {
    const NoAutocast inside(dy.device().kind);
    return grad_enabled() ? gradients_by_products(dy, saved, options)
                          : by_cpu_kernel(dy, saved, options, dropout);
}

/// Fused::logsumexp is undefined.
Fused on_cpu(const Op& info, const Tensor& q0, const Tensor& k0, const Tensor& v0,
             const AttentionOptions& options) {
    const Tensor q = operand(q0), k = operand(k0), v = operand(v0);
    const Tensor y = empty_heads({q.size(0), q.size(1), q.size(2), v.size(3)}, q);
    const kernels::AttentionDropout dropout = dropout_of(options, q, k);
    kernels::cpu::attention_forward(describe_forward(q, k, v, y, options),
                                    {q.data(), k.data(), v.data(), y.data(), nullptr}, dropout);
    const Tensor inputs[] = {q0, k0, v0};
    return {record_many(info, inputs, y, {save(q0), save(k0), save(v0)},
                        [options, dropout](std::span<const Tensor> grads, const Saved& saved) {
                            return cpu_gradients(grads[0], saved, options, dropout);
                        }),
            {}};
}

TensorList gradients(const Tensor& dy, const Saved& saved, const AttentionOptions& options) {
    const NoAutocast inside(dy.device().kind);
    if (!grad_enabled()) {
        TensorList found = by_kernel(dy, saved, options);
        if (!found.empty()) return found;
    }
    return gradients_by_products(dy, saved, options);
}

}  // namespace

/// On CUDA: requirements of the kernels on every card; the library decides on the rest by the
/// description.
bool may_be_fused(const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttentionOptions& options) {
    if (q.numel() == 0 || k.numel() == 0 || v.numel() == 0) return false;
    if (!is_cuda(q)) return q.dtype() != DType::f64 && !options.enable_gqa;
    if (!is_low(q.dtype())) return false;
    // Dropout masks are ours and counter-based, the same on every device (decisions.md#randomness,
    // D7).
    if (options.dropout_p > 0) return false;
    // A kernel may look for the largest score before it is scaled.
    const double scale = options.scale.value_or(1);
    if (!(scale > 0) || !std::isfinite(scale)) return false;
    if (options.is_causal && q.size(q.rank() - 2) != k.size(k.rank() - 2)) return false;
    return q.shape().back() % aligned_elements == 0 && v.shape().back() % aligned_elements == 0;
}

std::optional<Fused> fused_attention(const Op& info, const Tensor& q0, const Tensor& k0,
                                     const Tensor& v0, const AttentionOptions& options) {
    if (!may_be_fused(q0, k0, v0, options) || k0.size(1) != v0.size(1)) return std::nullopt;
    if (!is_cuda(q0)) return on_cpu(info, q0, k0, v0, options);
    const DeviceScope here(q0.device());
    const Tensor q = operand(q0), k = operand(k0), v = operand(v0);
    const Tensor y = empty_heads({q.size(0), q.size(1), q.size(2), v.size(3)}, q);
    const Attention a = describe_forward(q, k, v, y, options);
    const auto bytes = kernels::cuda::attention_workspace(a);
    if (!bytes) return std::nullopt;
    const Tensor inputs[] = {q0, k0, v0};
    // Else the gradient would make the scores a second time.
    if (grad_enabled() && any_requires_grad(inputs) &&
        !kernels::cuda::attention_workspace(describe_backward(a, q, k, v, y)))
        return std::nullopt;
    const Tensor logsumexp =
        Tensor::empty({q.size(0), q.size(1), q.size(2)}, DType::f32, q.device());
    const Scratch scratch(*bytes, q.device());
    kernels::cuda::attention_forward(
        a, {q.data(), k.data(), v.data(), y.data(), logsumexp.data_as<float>()}, scratch.data(),
        current_stream());
    const Tensor out = record_many(info, inputs, y,
                                   {save(q0), save(k0), save(v0), save_output(y), save(logsumexp)},
                                   [options](std::span<const Tensor> grads, const Saved& saved) {
                                       return gradients(grads[0], saved, options);
                                   });
    return Fused{out, logsumexp};
}

namespace {

constexpr Op attention_operand_op("attention_operand(x)", "It is in the op's type already.");

/// x as a node of its own in the graph, at which a backward pass may stop.
Tensor stop_at(const Tensor& x) {
    return record(attention_operand_op, {x}, x.detach(), {},
                  [](const Tensor& dx, const Saved&) { return dx; });
}

}  // namespace

TensorList gradients_by_products(const Tensor& dy, const Saved& saved,
                                 const AttentionOptions& options) {
    const bool recorded = grad_enabled();
    Tensor inputs[3];
    TensorList wanted;
    for (int i = 0; i < 3; ++i) {
        if (!saved.needs_gradient(i)) {
            inputs[i] = saved[i].detach();
            continue;
        }
        inputs[i] = recorded ? stop_at(saved[i]) : saved[i].detach().set_requires_grad(true);
        wanted.push_back(inputs[i]);
    }
    const auto& [q, k, v] = inputs;
    Tensor y;
    {
        const GradMode on(true);
        y = attend(q, repeated_heads(k, q), repeated_heads(v, q), {}, options,
                   {q.size(0), q.size(1)})
                .y;
    }
    const TensorList found =
        grad({&y, 1}, wanted, {&dy, 1}, {.create_graph = recorded}, /*allow_unused=*/false);
    TensorList out(3);
    for (std::size_t i = 0, next = 0; i < 3; ++i)
        if (saved.needs_gradient(static_cast<int>(i))) out[i] = found[next++];
    return out;
}

}  // namespace engine::detail
