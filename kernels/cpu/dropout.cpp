#include "kernels/dropout.h"

#include <algorithm>
#include <cassert>

#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t grain = 4096;  // ten rounds an element weigh more than a copy

}  // namespace

void dropout_mask(Array mask, const MaskSource& source, double p, Stream) {
    assert(mask.dtype == DType::boolean);
    PhiloxStream random = source.random;
    if (source.substream != nullptr)
        random.substream = static_cast<std::uint32_t>(*source.substream);
    auto* kept = static_cast<std::uint8_t*>(mask.data);
    parallel_for(mask.size, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end;) {
            const std::uint64_t at = source.offset + static_cast<std::uint64_t>(i);
            const PhiloxBlock words = random.block(at / 4);
            for (std::size_t lane = at % 4; lane < 4 && i < end; ++lane, ++i) {
                const double value = static_cast<double>(PhiloxStream::to_uniform(words[lane]));
                kept[i] = value >= p ? 1 : 0;
            }
        }
    });
}

}  // namespace kernels::cpu
