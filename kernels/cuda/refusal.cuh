#pragma once

#include "cuda/launch.cuh"
#include "kernels/refusal.h"

namespace kernels::cuda {

/// Kernels of a device run one after the other, so that what is noted already is an earlier rule's,
/// or of this kernel; which of its threads comes first makes no difference.
__device__ inline void note_refusal(const RefusalPlace& place, std::uint64_t code) {
    if (place.note == nullptr) return;
    using Word = unsigned long long;
    auto* note = reinterpret_cast<Word*>(place.note);
    const Word mine = (Word{place.rule} << refused_value_bits) | code;
    Word there = atomicCAS(note, Word{0}, mine);
    while (there != 0 && there >> refused_value_bits == place.rule && mine < there) {
        const Word before = atomicCAS(note, there, mine);
        if (before == there) return;
        there = before;
    }
}

}  // namespace kernels::cuda
