#include "kernels/balanced_sample.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "kernels/philox.h"

namespace kernels::cpu {
namespace {

using Drawn = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // priority, candidate

/// The `count` smallest of them.
void cut(Drawn& drawn, std::int64_t count) {
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
    if (drawn.size() <= kept) return;
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(kept), drawn.end());
    drawn.resize(kept);
}

/// The taken candidates of one picture, rising.
std::vector<std::int64_t> sample(const std::int64_t* matches, std::int64_t draw,
                                 const SampleRules& rules) {
    const auto bits = static_cast<std::uint64_t>(draw);
    const PhiloxStream random{
        {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)},
        0,
        rules.substream};
    Drawn positive, negative;
    for (std::int64_t first = 0; first < rules.candidates; first += 4) {
        const PhiloxBlock words = random.block(static_cast<std::uint64_t>(first / 4));
        for (std::int64_t i = first; i < std::min(first + 4, rules.candidates); ++i) {
            const std::uint32_t word = words[static_cast<std::size_t>(i - first)];
            if (matches[i] >= 0)
                positive.emplace_back(word, i);
            else if (matches[i] == -1)
                negative.emplace_back(word, i);
        }
    }
    cut(positive, std::min(rules.max_positives, rules.count));
    cut(negative, rules.count - static_cast<std::int64_t>(positive.size()));
    std::vector<std::int64_t> taken;
    for (const Drawn* kind : {&positive, &negative})
        for (const auto& each : *kind) taken.push_back(each.second);
    std::sort(taken.begin(), taken.end());
    return taken;
}

}  // namespace

void balanced_sample(std::int64_t* index, std::int64_t* positives, std::int64_t* counts,
                     const std::int64_t* matches, const std::int64_t* draws,
                     const SampleRules& rules, Stream) {
    std::vector<std::vector<std::int64_t>> taken(static_cast<std::size_t>(rules.images));
    parallel_for(rules.images, row_grain(8 * rules.candidates),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t image = begin; image < end; ++image)
                         taken[static_cast<std::size_t>(image)] = sample(
                             matches + image * rules.candidates, draws[image], rules);
                 });
    counts[0] = counts[1] = 0;
    for (std::int64_t image = 0; image < rules.images; ++image)
        for (const std::int64_t candidate : taken[static_cast<std::size_t>(image)]) {
            const std::int64_t number = image * rules.candidates + candidate;
            if (matches[number] >= 0) positives[counts[1]++] = counts[0];
            index[counts[0]++] = number;
        }
    std::fill(index + counts[0], index + rules.images * rules.count, -1);
    std::fill(positives + counts[1],
              positives + rules.images * std::min(rules.max_positives, rules.count), -1);
}

}  // namespace kernels::cpu
