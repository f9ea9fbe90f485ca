#include "instruments/histograms/exponent_counters.h"

#include <algorithm>
#include <bit>

#include "tensor/layout.h"
#include "tensor/sparse.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using kernels::ExponentCounts;

/// Slots of the first block. A small model needs no more, and clearing a block and reading it are a
/// good part of what its sample costs.
constexpr std::size_t first_block_slots = 16;

constexpr std::size_t slots_of(std::size_t block) { return first_block_slots << block; }
constexpr std::size_t first_slot(std::size_t block) { return slots_of(block) - first_block_slots; }
constexpr std::size_t block_of(std::size_t slot) {
    return static_cast<std::size_t>(std::bit_width(slot / first_block_slots + 1)) - 1;
}

Tensor cleared_block(std::size_t slots, const Device& device) {
    const auto bytes = static_cast<std::int64_t>(slots * sizeof(ExponentCounts));
    const Tensor block = Tensor::empty({bytes}, DType::u8, device);
    set_zero(block.data(), block.bytes(), device);
    return block;
}

/// `absent`: zeros that were not counted.
void write(ExponentHistogram& out, const ExponentCounts& counts, std::int64_t absent) {
    static_assert(ExponentCounts::bin_count == ExponentHistogram::bin_count &&
                  ExponentCounts::first_exponent == ExponentHistogram::first_exponent);
    std::copy(std::begin(counts.bins), std::end(counts.bins), out.bins.begin());
    out.zero = counts.zero + absent;
    out.below = counts.below;
    out.infinite = counts.infinite;
    out.nan = counts.nan;
    if (counts.largest != 0) out.largest = std::bit_cast<double>(counts.largest);
    if (counts.smallest_inverted != 0)
        out.smallest = std::bit_cast<double>(~counts.smallest_inverted);
}

}  // namespace

ExponentCounts* ExponentCounters::counts(std::size_t slot) {
    const std::size_t block = block_of(slot);
    while (block >= blocks_.size()) {
        const UseScope use(MemoryUse::workspace);
        blocks_.push_back(cleared_block(slots_of(blocks_.size()), device_));
        absent_.resize(first_slot(blocks_.size()));
    }
    return blocks_[block].data_as<ExponentCounts>() + (slot - first_slot(block));
}

void ExponentCounters::add(std::size_t slot, const Tensor& x) {
    const UseScope use(MemoryUse::workspace);
    const Tensor values = dense(x.is_sparse() ? sparse_parts(x).values : x);
    add(slot, values.array());
    absent_[slot] += x.numel() - values.numel();
}

void ExponentCounters::add(std::size_t slot, const kernels::ConstArray& x) {
    on(device_, kernels::cpu::count_exponents, kernels::cuda::count_exponents)(counts(slot), x,
                                                                               current_stream());
}

std::vector<ExponentHistogram> ExponentCounters::read(std::size_t count) const {
    std::vector<ExponentHistogram> out(count);
    const std::size_t used = std::min(count, absent_.size());
    std::vector<ExponentCounts> copy;
    for (std::size_t block = 0; first_slot(block) < used; ++block) {
        const std::size_t first = first_slot(block), here = std::min(used - first, slots_of(block));
        const ExponentCounts* counts = blocks_[block].data_as<ExponentCounts>();
        if (device_.kind != Device::Kind::cpu) {
            copy.resize(here);
            copy_to_host(copy.data(), counts, here * sizeof(ExponentCounts), device_);
            counts = copy.data();
        }
        for (std::size_t i = 0; i < here; ++i) write(out[first + i], counts[i], absent_[first + i]);
    }
    return out;
}

}  // namespace engine
