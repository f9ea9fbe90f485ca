#include "tasks/word_masking.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::uint64_t draws_each = 3;  // which token, how it is masked, which word

/// The first `count` of the positions in [0, window), without replacement, in ascending order.
void choose(std::span<std::int64_t> places, std::int64_t count, const RandomStream& random,
            std::uint64_t first) {
    static thread_local std::vector<std::int64_t> left;
    left.resize(places.size());
    std::iota(left.begin(), left.end(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto rest = static_cast<std::uint32_t>(std::ssize(left) - i);
        const std::int64_t at =
            i + random.bounded(first + static_cast<std::uint64_t>(i) * draws_each, rest);
        std::swap(left[static_cast<std::size_t>(i)], left[static_cast<std::size_t>(at)]);
    }
    std::ranges::fill(places, 0);
    std::copy_n(left.begin(), count, places.begin());
    std::sort(places.begin(), places.begin() + count);
}

}  // namespace

std::int64_t masked_count(std::int64_t window) {
    return std::max<std::int64_t>(1, (15 * window + 50) / 100);
}

void WordMasking::apply(const SampleFields& sample, std::size_t field,
                        const SamplePlace& place) const {
    const std::uint32_t substream = training_ ? static_cast<std::uint32_t>(place.epoch)
                                              : std::numeric_limits<std::uint32_t>::max();
    const RandomStream random(place.seed, StreamId::task, substream);
    // A window's position counts the tokens before it.
    const std::uint64_t first = place.position * draws_each;
    const auto tokens = sample.i64(field);
    const auto places = sample.i64(fields_.places);
    const std::int64_t count = masked_count(std::ssize(tokens));
    std::ranges::copy(tokens, sample.i64(fields_.original).begin());
    choose(places, count, random, first);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t at = first + static_cast<std::uint64_t>(i) * draws_each;
        std::int64_t& token = tokens[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
        const std::uint32_t fate = random.bounded(at + 1, 10);
        if (fate < 8)
            token = mask_;
        else if (fate == 8)
            token = random.bounded(at + 2, static_cast<std::uint32_t>(words_));
    }
}

}  // namespace engine
