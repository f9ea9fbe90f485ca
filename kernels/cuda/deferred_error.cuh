#pragma once

#include "cuda/launch.cuh"
#include "kernels/deferred_error.h"

namespace kernels::cuda {

/// Kernels of a device run one after the other, so an existing note is an earlier rule's or of this
/// kernel. The result does not depend on which of its threads comes first.
__device__ inline void record_error(const DeferredErrorPlace& place, std::uint64_t code) {
    if (place.note == nullptr) return;
    using Word = unsigned long long;
    auto* note = reinterpret_cast<Word*>(place.note);
    const Word mine = (Word{place.rule} << deferred_value_bits) | code;
    Word there = atomicCAS(note, Word{0}, mine);
    while (there != 0 && there >> deferred_value_bits == place.rule && mine < there) {
        const Word before = atomicCAS(note, there, mine);
        if (before == there) return;
        there = before;
    }
}

}  // namespace kernels::cuda
