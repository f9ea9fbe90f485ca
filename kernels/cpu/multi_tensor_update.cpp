#include "cpu/multi_tensor_update.h"

#include <atomic>
#include <cassert>
#include <cmath>

#include "cpu/grain.h"
#include "cpu/multi_tensor_pieces.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_update.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// What fits the first-level cache beside its neighbours: operands that are not f32 are converted
/// into such blocks and back, so that one f32 loop serves all types.
constexpr std::int64_t block = 512;

/// A block of an operand as f32: the memory itself, or a converted copy.
class Block {
public:
    Block(const Array& x, std::int64_t first, std::int64_t n) : x_(x), first_(first), n_(n) {
        if (x.data == nullptr) return;
        if (x.dtype == DType::f32) {
            values_ = static_cast<float*>(x.data) + first;
            return;
        }
        values_ = copy_;
        if (x.dtype == DType::f64) {
            for (std::int64_t i = 0; i < n; ++i)
                copy_[i] = static_cast<float>(static_cast<const double*>(x.data)[first + i]);
        }
        with_16_bit([&](auto* p) { map(copy_, p, n_, [](VF v) { return v; }); });
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    float* values() { return values_; }

    /// Rounds a copy back into the operand.
    void write_back() {
        if (x_.dtype == DType::f64) {
            for (std::int64_t i = 0; i < n_; ++i)
                static_cast<double*>(x_.data)[first_ + i] = static_cast<double>(copy_[i]);
        }
        with_16_bit([&](auto* p) { map(p, copy_, n_, [](VF v) { return v; }); });
    }

private:
    template <class F>
    void with_16_bit(const F& f) {
        if (x_.dtype == DType::f16) f(static_cast<Half*>(x_.data) + first_);
        if (x_.dtype == DType::bf16) f(static_cast<BFloat16*>(x_.data) + first_);
    }

    Array x_;
    std::int64_t first_, n_;
    float* values_ = nullptr;
    alignas(64) float copy_[block];
};

/// The unscaled and clipped gradient, in a block of its own.
template <class Step>
class Gradient {
public:
    Gradient(const Array& grad, std::int64_t first, std::int64_t n, const Step& step) {
        Block source(grad, first, n);
        const VF factor = hn::Set(DF(), static_cast<float>(step.grad_factor));
        const VF clip = hn::Set(DF(), static_cast<float>(step.clip));
        map(values_, source.values(), n, [&](VF v) { return hn::Mul(hn::Mul(v, factor), clip); });
        if (!step.write_grads) return;
        std::copy_n(values_, n, source.values());
        source.write_back();
    }
    float* values() { return values_; }

private:
    alignas(64) float values_[block];
};

/// g becomes lr times the direction: what p loses.
void sgd_block(float* p, float* g, float* momentum, std::int64_t n, const SgdStep& step) {
    const auto constant = [](double v) HWY_ATTR { return hn::Set(DF(), static_cast<float>(v)); };
    const VF decay = constant(step.weight_decay), rate = constant(step.lr);
    const VF mu = constant(step.momentum), undamped = constant(step.undamped);
    const bool decays = step.weight_decay != 0;
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        const VF old = part.load(p + i);
        VF d = part.load(g + i);
        if (decays) d = hn::MulAdd(decay, old, d);
        if (momentum != nullptr) {
            VF buffer = d;
            if (!step.first_step)
                buffer = hn::MulAdd(undamped, d, hn::Mul(mu, part.load(momentum + i)));
            part.store(buffer, momentum + i);
            d = step.nesterov ? hn::MulAdd(mu, buffer, d) : buffer;
        }
        part.store(hn::NegMulAdd(rate, d, old), p + i);
        part.store(hn::Mul(rate, d), g + i);
    });
}

void adam_block(float* p, float* g, float* m, float* v, std::int64_t n, const AdamStep& step) {
    const auto constant = [](double c) HWY_ATTR { return hn::Set(DF(), static_cast<float>(c)); };
    const VF l2 = constant(step.weight_decay), decay = constant(step.decay);
    const VF rest1 = constant(1 - step.beta1), rest2 = constant(1 - step.beta2);
    const VF beta2 = constant(step.beta2), eps = constant(step.eps);
    const VF size = constant(step.step_size), root = constant(step.root_c2);
    const bool regularised = step.weight_decay != 0;
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        const VF old = part.load(p + i);
        VF d = part.load(g + i);
        if (regularised) d = hn::MulAdd(l2, old, d);
        const VF mean = part.load(m + i);
        const VF first = hn::MulAdd(rest1, hn::Sub(d, mean), mean);
        const VF second = hn::MulAdd(hn::Mul(rest2, d), d, hn::Mul(beta2, part.load(v + i)));
        part.store(first, m + i);
        part.store(second, v + i);
        const VF denominator = hn::Add(hn::Div(hn::Sqrt(second), root), eps);
        const VF update = hn::Div(hn::Mul(size, first), denominator);
        // Joined here, not where a compiler sees fit, so that the CUDA twin gives the same bits.
        part.store(hn::MulSub(old, decay, update), p + i);
        part.store(hn::Add(update, hn::NegMulAdd(old, decay, old)), g + i);
    });
}

void run_block(float* p, float* g, float* state1, float*, std::int64_t n, const SgdStep& step) {
    sgd_block(p, g, state1, n, step);
}
void run_block(float* p, float* g, float* state1, float* state2, std::int64_t n,
               const AdamStep& step) {
    adam_block(p, g, state1, state2, n, step);
}

/// Of the non-zero updates, those that left the 16-bit pattern as it was.
void count_lost(const std::uint16_t* before, const std::uint16_t* after, const float* update,
                std::int64_t n, UpdateCounts& counts) {
    for (std::int64_t i = 0; i < n; ++i) {
        counts.nonzero += update[i] != 0;
        counts.lost += update[i] != 0 && before[i] == after[i];
    }
}

template <class Step>
void update_block(const UpdateTensor& t, std::int64_t first, std::int64_t n, const Step& step,
                  UpdateCounts* counts) {
    Gradient<Step> g(t.grad, first, n, step);
    Block p(t.master, first, n);
    Block state1(t.state1, first, n);
    Block state2(t.state2, first, n);
    run_block(p.values(), g.values(), state1.values(), state2.values(), n, step);
    if (state1.values() != nullptr) state1.write_back();
    if (state2.values() != nullptr) state2.write_back();
    if (counts != nullptr && size_of(t.master.dtype) == 2) {
        std::uint16_t before[block];
        const auto* stored = static_cast<const std::uint16_t*>(t.master.data) + first;
        std::copy_n(stored, n, before);
        p.write_back();
        count_lost(before, stored, g.values(), n, *counts);
    } else {
        p.write_back();
    }
    if (t.low.data == nullptr) return;
    if (t.low.dtype == DType::f16)
        map(static_cast<Half*>(t.low.data) + first, p.values(), n, [](VF v) { return v; });
    else
        map(static_cast<BFloat16*>(t.low.data) + first, p.values(), n, [](VF v) { return v; });
}

template <class Step>
void update_run(const UpdateTensor& t, std::int64_t first, std::int64_t n, const Step& step,
                UpdateCounts* counts) {
    for (std::int64_t i = 0; i < n; i += block)
        update_block(t, first + i, std::min(block, n - i), step, counts);
}

void sgd_run(const UpdateTensor& t, std::int64_t first, std::int64_t n, const SgdStep& step,
             UpdateCounts* counts) {
    update_run(t, first, n, step, counts);
}
void adam_run(const UpdateTensor& t, std::int64_t first, std::int64_t n, const AdamStep& step,
              UpdateCounts* counts) {
    update_run(t, first, n, step, counts);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(sgd_run);
HWY_EXPORT(adam_run);

void run_one(const UpdateTensor& t, std::int64_t first, std::int64_t n, const SgdStep& step,
             UpdateCounts* counts) {
    if (t.master.dtype == DType::f64)
        sgd_double(t, first, n, step);
    else
        HWY_DYNAMIC_DISPATCH(sgd_run)(t, first, n, step, counts);
}
void run_one(const UpdateTensor& t, std::int64_t first, std::int64_t n, const AdamStep& step,
             UpdateCounts* counts) {
    if (t.master.dtype == DType::f64)
        adam_double(t, first, n, step);
    else
        HWY_DYNAMIC_DISPATCH(adam_run)(t, first, n, step, counts);
}

template <class Step>
void run_all(std::span<const UpdateTensor> tensors, const Step& step, UpdateCounts* counts) {
    const auto count = static_cast<std::int64_t>(tensors.size());
    const auto size = [&](std::int64_t i) {
        return tensors[static_cast<std::size_t>(i)].master.size;
    };
    std::atomic<std::int64_t> nonzero{0}, lost{0};
    parallel_for(total_size(count, size), loop_grain / 2,
                 [&](std::int64_t begin, std::int64_t end) {
                     UpdateCounts here{};
                     for_each_piece(count, size, begin, end,
                                    [&](std::int64_t i, std::int64_t first, std::int64_t n) {
                                        run_one(tensors[static_cast<std::size_t>(i)], first, n,
                                                step, counts != nullptr ? &here : nullptr);
                                    });
                     nonzero += here.nonzero;
                     lost += here.lost;
                 });
    if (counts != nullptr) *counts = {nonzero, lost};
}

template <class Step>
void set_common(Step& step, const UpdateScalars& scalars) {
    step.grad_factor = scalars.grad_scale == nullptr
                           ? 1.0
                           : static_cast<double>(static_cast<float>(
                                 1.0 / static_cast<double>(*scalars.grad_scale)));
    step.clip = scalars.clip == nullptr ? 1.0 : static_cast<double>(*scalars.clip);
    step.write_grads = scalars.write_grads;
}

bool skipped(const UpdateScalars& scalars, UpdateCounts* counts) {
    if (scalars.found_inf == nullptr || *scalars.found_inf == 0) return false;
    if (counts != nullptr) *counts = {};
    return true;
}

}  // namespace

void multi_tensor_sgd(std::span<const UpdateTensor> tensors, const SgdOptions& options,
                      const UpdateScalars& scalars, UpdateCounts* counts, Stream) {
    assert(scalars.lr != nullptr);
    if (skipped(scalars, counts)) return;
    SgdStep step{};
    set_common(step, scalars);
    step.lr = static_cast<double>(*scalars.lr);
    step.momentum = options.momentum;
    step.undamped = 1 - options.dampening;
    step.weight_decay = options.weight_decay;
    step.nesterov = options.nesterov;
    step.first_step = options.dampening != 0 && scalars.step != nullptr && *scalars.step <= 1;
    run_all(tensors, step, counts);
}

void multi_tensor_adam(std::span<const UpdateTensor> tensors, const AdamOptions& options,
                       const UpdateScalars& scalars, UpdateCounts* counts, Stream) {
    assert(scalars.lr != nullptr && scalars.step != nullptr);
    if (skipped(scalars, counts)) return;
    AdamStep step{};
    set_common(step, scalars);
    const auto lr = static_cast<double>(*scalars.lr);
    const auto t = static_cast<double>(*scalars.step);
    step.decay = options.decoupled ? 1 - lr * options.weight_decay : 1;
    step.weight_decay = options.decoupled ? 0 : options.weight_decay;
    step.beta1 = options.beta1;
    step.beta2 = options.beta2;
    step.eps = options.eps;
    step.step_size = lr / (1 - std::pow(options.beta1, t));
    step.root_c2 = std::sqrt(1 - std::pow(options.beta2, t));
    run_all(tensors, step, counts);
}

}  // namespace kernels::cpu
#endif
