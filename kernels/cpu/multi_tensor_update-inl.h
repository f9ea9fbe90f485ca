// One pass of an optimizer's formula over n elements of a tensor, in vectors of f32. Include after
// hwy/highway.h in a file that goes through foreach_target.

#if defined(KERNELS_CPU_MULTI_TENSOR_UPDATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_MULTI_TENSOR_UPDATE_INL_H
#undef KERNELS_CPU_MULTI_TENSOR_UPDATE_INL_H
#else
#define KERNELS_CPU_MULTI_TENSOR_UPDATE_INL_H
#endif

#include <algorithm>
#include <cmath>

#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"
#include "cpu/multi_tensor_update.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

#define HALFTONE_FORMULA HWY_INLINE
#include "shared/update_formulas.inc"
#undef HALFTONE_FORMULA

struct ToVector {
    HWY_INLINE VF operator()(double value) const {
        return hn::Set(DF(), static_cast<float>(value));
    }
};

/// Fits the first-level cache together with the other operands. Operands that are not f32 are
/// converted into such blocks and back, so that one f32 loop serves all types.
constexpr std::int64_t update_block_size = 512;

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
        if (x_.data == nullptr) return;
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
    alignas(64) float copy_[update_block_size];
};

/// The gradient as the optimizer sees it, in a block of its own.
class Gradient {
public:
    Gradient(const Array& grad, std::int64_t first, std::int64_t n, const float* p,
             const GradientValues& at) {
        Block source(grad, first, n);
        const auto formula = GradientFormula<VF>::of(at, ToVector());
        const float* g = source.values();
        for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
            part.store(formula(part.load(g + i), part.load(p + i)), values_ + i);
        });
        if (!at.write) return;
        std::copy_n(values_, n, source.values());
        source.write_back();
    }
    float* values() { return values_; }

private:
    alignas(64) float values_[update_block_size];
};

/// A block of masters before their update, kept where lost updates are counted.
class MastersBefore {
public:
    MastersBefore(const UpdateTensor& t, const float* values, std::int64_t n, UpdateCounts* counts)
        : counts_(size_of(t.master.dtype) == 2 || t.behind_low ? counts : nullptr), n_(n) {
        if (counts_ != nullptr) std::copy_n(values, n, values_);
    }

    /// weights: the new values; stored: the values that the masters hold of them. Compares values,
    /// not bits: 0 that becomes -0 has lost its update.
    void count(const float* weights, const float* stored, const float* update) const {
        for (std::int64_t i = 0; i < n_; ++i) {
            const bool counted = update[i] != 0 && std::isfinite(weights[i]);
            counts_->nonzero += counted;
            counts_->lost += counted && values_[i] == stored[i];
        }
    }
    bool counts() const { return counts_ != nullptr; }

private:
    UpdateCounts* counts_;
    std::int64_t n_;
    alignas(64) float values_[update_block_size];
};

/// Writes the weight's block to the stored weight and to its 16-bit copy.
inline void write_weight(const UpdateTensor& t, std::int64_t first, std::int64_t n, Block& p,
                         const float* update, const MastersBefore& before) {
    p.write_back();
    if (before.counts()) before.count(p.values(), Block(t.master, first, n).values(), update);
    if (t.low.data == nullptr) return;
    if (t.low.dtype == DType::f16)
        map(static_cast<Half*>(t.low.data) + first, p.values(), n, [](VF v) { return v; });
    else
        map(static_cast<BFloat16*>(t.low.data) + first, p.values(), n, [](VF v) { return v; });
}

/// A tensor's state, as much of it as the formula has.
template <int states>
struct StateBlocks {
    StateBlocks(const UpdateTensor& t, std::int64_t first, std::int64_t n)
        : one(t.state1, first, n),
          two(states > 1 ? t.state2 : Array{}, first, n),
          three(states > 2 ? t.state3 : Array{}, first, n) {}
    void write_back() {
        one.write_back();
        two.write_back();
        three.write_back();
    }
    Block one, two, three;
};

/// The formula on n elements in memory; state may be null. g becomes what p loses.
template <class Formula>
void apply_formula(const Formula& formula, float* p, float* g, float* s1, float* s2, float* s3,
                   std::int64_t n, VF of_tensor) {
    const VF zero = hn::Zero(DF());
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        VF weight = part.load(p + i);
        VF one = zero, two = zero, three = zero;
        if (s1 != nullptr) one = part.load(s1 + i);
        if (Formula::states > 1 && s2 != nullptr) two = part.load(s2 + i);
        if (Formula::states > 2 && s3 != nullptr) three = part.load(s3 + i);
        const VF update =
            formula(weight, part.load(g + i), one, two, three, s1 != nullptr, of_tensor);
        part.store(weight, p + i);
        part.store(update, g + i);
        if (s1 != nullptr) part.store(one, s1 + i);
        if (Formula::states > 1 && s2 != nullptr) part.store(two, s2 + i);
        if (Formula::states > 2 && s3 != nullptr) part.store(three, s3 + i);
    });
}

/// Whether all bits of n values are 0.
inline bool all_zero(const float* x, std::int64_t n) {
    const DU d;
    auto bits = hn::Zero(d);
    for_each_vector(n, [&](std::int64_t i, auto part)
                           HWY_ATTR { bits = hn::Or(bits, hn::BitCast(d, part.load(x + i))); });
    return hn::AllTrue(d, hn::Eq(bits, hn::Zero(d)));
}

/// Whether gradients of +0 leave the weights as they are, bit for bit, and nothing else is written:
/// then such blocks, most of an embedding's, cost no more than the look at their gradients.
template <class Formula>
bool keeps_without_gradient(const UpdateTensor& t, const Formula& formula, const TensorValues& at) {
    if constexpr (requires { formula.keeps_without_gradient(true); }) {
        const auto factor = [](double x) { return std::isfinite(x) && x >= 0; };
        return formula.keeps_without_gradient(t.state1.data != nullptr) &&
               t.master.dtype == DType::f32 && t.grad.dtype == DType::f32 &&
               t.low.data == nullptr && !at.gradient.adapts && factor(at.update.lr) &&
               factor(at.gradient.factor) && factor(at.gradient.clip);
    }
    return false;
}

template <class Formula>
void update_run(const UpdateTensor& t, std::int64_t first, std::int64_t size,
                const Formula& formula, const TensorValues& at, UpdateCounts* counts) {
    const VF of_tensor = ToVector()(at.of_tensor);
    const bool may_keep = keeps_without_gradient(t, formula, at);
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        if (may_keep && all_zero(static_cast<const float*>(t.grad.data) + first, n)) continue;
        Block p(t.master, first, n);
        const MastersBefore before(t, p.values(), n, counts);
        Gradient g(t.grad, first, n, p.values(), at.gradient);
        StateBlocks<Formula::states> state(t, first, n);
        apply_formula(formula, p.values(), g.values(), state.one.values(), state.two.values(),
                      state.three.values(), n, of_tensor);
        state.write_back();
        write_weight(t, first, n, p, g.values(), before);
    }
}

/// Sum of squares in double, where the square of no f32 overflows or vanishes.
inline double sum_of_squares(const float* x, std::int64_t n) {
    using DD = hn::ScalableTag<double>;
    auto low = hn::Zero(DD()), high = hn::Zero(DD());
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        const VF v = part.load(x + i);
#if HWY_TARGET == HWY_SCALAR
        const auto d = hn::PromoteTo(DD(), v);
        low = hn::MulAdd(d, d, low);
#else
        const hn::Half<DF> half;
        const auto below = hn::PromoteTo(DD(), hn::LowerHalf(half, v));
        const auto above = hn::PromoteTo(DD(), hn::UpperHalf(half, v));
        low = hn::MulAdd(below, below, low);
        high = hn::MulAdd(above, above, high);
#endif
    });
    return hn::GetLane(hn::SumOfLanes(DD(), hn::Add(low, high)));
}

/// NaN if one is.
inline double largest_magnitude(const float* x, std::int64_t n) {
    VF largest = hn::Zero(DF());
    for_each_vector(n, [&](std::int64_t i, auto part)
                           HWY_ATTR { largest = maximum_of(hn::Abs(part.load(x + i)), largest); });
    float lanes[HWY_MAX_BYTES / sizeof(float)];
    hn::StoreU(largest, DF(), lanes);
    float all = 0;
    for (std::int64_t k = 0; k < lane_count(); ++k)
        if (!(lanes[k] <= all) && !std::isnan(all)) all = lanes[k];
    return static_cast<double>(all);
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
