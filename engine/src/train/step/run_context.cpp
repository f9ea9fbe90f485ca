#include "train/step/run_context.h"

#include <utility>

#include "kernels/parallel.h"
#include "kernels/profiler_calls.h"
#include "parallel/device_ranks.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"

namespace engine {
namespace {

using kernels::AttentionFallback;
using kernels::AttentionPass;
using kernels::Conv2dFallback;

struct ConvolutionWords {
    const char* type;
    std::string input, weights;
    std::int64_t groups;
};

ConvolutionWords fallback_words(const Conv2dFallback& fallback) {
    const kernels::Conv2dShape& s = fallback.shape;
    return {name(fallback.dtype), to_string(Shape{s.n, s.c, s.h, s.w}),
            to_string(Shape{s.k, s.c / s.groups, s.r, s.s}), s.groups};
}

Message tell_refused(const Conv2dFallback& fallback) {
    const auto [type, input, weights, groups] = fallback_words(fallback);
    switch (fallback.pass) {
        case kernels::Conv2dPass::data_gradient:
            return msg(
                "The input gradient of a convolution in {}, input {}, weights {}, groups {}, is "
                "not computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, groups);
        case kernels::Conv2dPass::weight_gradient:
            return msg(
                "The weight gradient of a convolution in {}, input {}, weights {}, groups {}, is "
                "not computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, groups);
        default:
            return msg(
                "The forward pass of a convolution in {}, input {}, weights {}, groups {}, is not "
                "computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, groups);
    }
}

Message tell_failed(const Conv2dFallback& fallback) {
    const auto [type, input, weights, groups] = fallback_words(fallback);
    switch (fallback.pass) {
        case kernels::Conv2dPass::data_gradient:
            return msg(
                "cuDNN failed to prepare the input gradient of a convolution in {}, input {}, "
                "weights {}, groups {}, so plain loops compute it, many times slower: {}",
                type, input, weights, groups, fallback.why);
        case kernels::Conv2dPass::weight_gradient:
            return msg(
                "cuDNN failed to prepare the weight gradient of a convolution in {}, input {}, "
                "weights {}, groups {}, so plain loops compute it, many times slower: {}",
                type, input, weights, groups, fallback.why);
        default:
            return msg(
                "cuDNN failed to prepare the forward pass of a convolution in {}, input {}, "
                "weights {}, groups {}, so plain loops compute it, many times slower: {}",
                type, input, weights, groups, fallback.why);
    }
}

Message tell_one(const Conv2dFallback& fallback) {
    return fallback.why.empty() ? tell_refused(fallback) : tell_failed(fallback);
}

Message tell_one(const AttentionFallback& fallback) {
    const kernels::Attention& a = fallback.attention;
    const char* type = name(a.dtype);
    const std::string q = to_string(Shape{a.batch, a.heads, a.queries, a.qk_size});
    const std::string v = to_string(Shape{a.batch, a.kv_heads, a.keys, a.v_size});
    const bool forward = a.pass == AttentionPass::forward;
    if (fallback.why.empty() && forward)
        return msg(
            "cuDNN has no fused kernel for attention in {}, queries {}, values {}, on this device: "
            "it is computed as matrix products and a softmax, slower and with all scores in "
            "memory.",
            type, q, v);
    if (fallback.why.empty())
        return msg(
            "cuDNN has no fused kernel for the gradient of attention in {}, queries {}, values {}, "
            "on this device: it is computed as matrix products and a softmax, slower and with all "
            "scores in memory.",
            type, q, v);
    if (forward)
        return msg(
            "cuDNN failed to prepare attention in {}, queries {}, values {}, so it is computed as "
            "matrix products and a softmax, slower and with all scores in memory: {}",
            type, q, v, fallback.why);
    return msg(
        "cuDNN failed to prepare the gradient of attention in {}, queries {}, values {}, so it is "
        "computed as matrix products and a softmax, slower and with all scores in memory: {}",
        type, q, v, fallback.why);
}

}  // namespace

RunContext::RunContext(const RunConfig& config, const Device& device,
                       std::shared_ptr<Communicator> ranks, std::unique_ptr<Norms> norms)
    : device_(device),
      precision_(resolve(config.precision)),
      plans_{.measured = true, .bit_stable = config.deterministic},
      norms_(std::move(norms)),
      threads_(config.threads > 0 ? static_cast<int>(config.threads)
                                  : kernels::cpu::hardware_threads()),
      ranks_(ranks && device.kind == Device::Kind::cuda
                 ? make_gpu_communicator(std::move(ranks), device)
                 : std::move(ranks)),
      synced_norms_(config.sync_batch_norm) {
    kernels::cpu::set_threads(threads_);
    if (device.kind == Device::Kind::cuda) kernels::cuda::open_profiler();
}

RunContext::Entry::Entry(RunContext& context)
    : device_(context.device_),
      compute_(ComputeContext::of_thread()),
      library_(kernels::LibraryContext::of_thread()) {
    ComputeContext& compute = ComputeContext::of_thread();
    compute.accounting = &context.accounting_;
    compute.tf32 = context.precision_.tf32;
    if (context.synced_norms_ && context.ranks()) compute.norm_ranks = context.ranks();
    compute.norms = context.norms_.get();
    kernels::LibraryContext& library = kernels::LibraryContext::of_thread();
    library.plans = context.plans_;
    library.fallbacks = &context.fallbacks_;
    kernels::cpu::set_threads(context.threads_);
}

RunContext::Entry::~Entry() {
    ComputeContext::of_thread() = compute_;
    kernels::LibraryContext::of_thread() = library_;
}

std::vector<Message> RunContext::take_fallbacks() {
    std::vector<Message> out;
    for (const auto& fallback : fallbacks_.take()) out.push_back(tell(fallback));
    return out;
}

Message tell(const kernels::LibraryFallback& fallback) {
    return std::visit([](const auto& one) { return tell_one(one); }, fallback);
}

}  // namespace engine
