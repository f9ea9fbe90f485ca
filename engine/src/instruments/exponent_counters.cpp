#include "instruments/exponent_counters.h"

#include <algorithm>
#include <bit>

#include "core/layout.h"
#include "core/sparse.h"

namespace engine {
namespace {

ExponentHistogram histogram_of(const kernels::ExponentCounts& counts, std::int64_t size) {
    static_assert(kernels::ExponentCounts::bin_count == ExponentHistogram::bin_count &&
                  kernels::ExponentCounts::first_exponent == ExponentHistogram::first_exponent);
    ExponentHistogram out;
    std::copy(std::begin(counts.bins), std::end(counts.bins), out.bins.begin());
    out.below = counts.below;
    out.infinite = counts.infinite;
    out.nan = counts.nan;
    // What a sparse tensor does not hold is 0 too.
    out.zero = size - out.finite_nonzero() - out.non_finite();
    if (counts.largest != 0) out.largest = std::bit_cast<double>(counts.largest);
    if (counts.smallest_inverted != 0)
        out.smallest = std::bit_cast<double>(~counts.smallest_inverted);
    return out;
}

}  // namespace

kernels::ExponentCounts* ExponentCounters::counts(std::size_t slot) {
    const UseScope use(MemoryUse::workspace);
    while (slot >= blocks_.size() * block_slots) {
        blocks_.emplace_back(device_);
        blocks_.back().clear();
    }
    if (slot >= sizes_.size()) sizes_.resize(slot + 1);
    return blocks_[slot / block_slots].data()->of + slot % block_slots;
}

void ExponentCounters::add(std::size_t slot, const Tensor& x) {
    kernels::ExponentCounts* const to = counts(slot);
    sizes_[slot] += x.numel();
    const UseScope use(MemoryUse::workspace);
    const Tensor values = dense(x.is_sparse() ? sparse_parts(x).values : x);
    on(device_, kernels::cpu::count_exponents, kernels::cuda::count_exponents)(to, values.array(),
                                                                               current_stream());
}

std::vector<ExponentHistogram> ExponentCounters::read(std::size_t count) const {
    std::vector<ExponentHistogram> out(count);
    for (std::size_t first = 0; first < std::min(count, sizes_.size()); first += block_slots) {
        const Block block = blocks_[first / block_slots].host();
        for (std::size_t i = first; i < std::min({count, sizes_.size(), first + block_slots}); ++i)
            out[i] = histogram_of(block.of[i - first], sizes_[i]);
    }
    return out;
}

}  // namespace engine
