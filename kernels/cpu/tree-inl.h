// Pairwise joining of block results. Include after hwy/highway.h in a file that goes through
// foreach_target.

#if defined(KERNELS_CPU_TREE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_TREE_INL_H
#undef KERNELS_CPU_TREE_INL_H
#else
#define KERNELS_CPU_TREE_INL_H
#endif

#include "cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

/// Joins blocks of N vectors like a binary counter: the block pushed k-th is joined with as many
/// others as k has trailing zeros, so that no result passes through more than log2(count) joins.
template <class Op, int N>
class Tree {
public:
    void push(const VF (&block)[N]) {
        VF sum[N];
        for (int k = 0; k < N; ++k) sum[k] = block[k];
        int depth = 0;
        for (std::uint64_t bits = ++count_; (bits & 1u) == 0; bits >>= 1, ++depth)
            for (int k = 0; k < N; ++k) sum[k] = Op()(level_[depth][k], sum[k]);
        for (int k = 0; k < N; ++k) level_[depth][k] = sum[k];
    }
    /// The neutral element where nothing was pushed.
    void result(VF (&sum)[N]) const {
        for (int k = 0; k < N; ++k) sum[k] = hn::Set(DF(), Op::template neutral<float>());
        for (int depth = 0; depth < levels; ++depth) {
            if ((count_ >> depth & 1u) == 0) continue;
            for (int k = 0; k < N; ++k) sum[k] = Op()(level_[depth][k], sum[k]);
        }
    }

private:
    static constexpr int levels = 32;
    VF level_[levels][N];
    std::uint64_t count_ = 0;
};

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
