#include "kernels/balanced_sample.h"

#include "cuda/block_select.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "kernels/philox.h"

namespace kernels::cuda {
namespace {

constexpr int sample_threads = 512;

/// Anchors that are taken of a picture.
struct SampleCut {
    KeyCut positive, negative;
};

/// The word of each candidate; and -1 in every slot of the results.
__global__ void draw_words_kernel(std::uint32_t* words, std::int64_t* index,
                                  std::int64_t* positives, const std::int64_t* draws,
                                  SampleRules rules) {
    const std::int64_t blocks = (rules.candidates + 3) / 4;
    for (std::int64_t i = grid_thread(); i < rules.images * blocks; i += grid_threads()) {
        const std::int64_t image = i / blocks, block = i - image * blocks;
        const auto bits = static_cast<std::uint64_t>(draws[image]);
        const PhiloxStream random{
            {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)},
            0,
            rules.substream};
        const PhiloxBlock drawn = random.block(static_cast<std::uint64_t>(block));
        for (std::int64_t k = 0; k < 4 && 4 * block + k < rules.candidates; ++k)
            words[image * rules.candidates + 4 * block + k] = drawn[static_cast<std::size_t>(k)];
    }
    const std::int64_t most = rules.max_positives < rules.count ? rules.max_positives : rules.count;
    for (std::int64_t i = grid_thread(); i < rules.images * rules.count; i += grid_threads())
        index[i] = -1;
    for (std::int64_t i = grid_thread(); i < rules.images * most; i += grid_threads())
        positives[i] = -1;
}

/// One block for each picture.
__global__ void cut_samples_kernel(SampleCut* cuts, const std::uint32_t* words,
                                   const std::int64_t* matches, SampleRules rules) {
    const std::int64_t image = blockIdx.x, start = image * rules.candidates;
    const auto find = [&](bool positive, std::int64_t want) {
        return find_cut<sample_threads>(rules.candidates, want,
                                        [&](std::int64_t i, std::uint32_t& key) {
                                            const std::int64_t match = matches[start + i];
                                            key = words[start + i];
                                            return positive ? match >= 0 : match == -1;
                                        });
    };
    SampleCut cut;
    cut.positive =
        find(true, rules.max_positives < rules.count ? rules.max_positives : rules.count);
    cut.negative = find(false, rules.count - cut.positive.taken);
    if (threadIdx.x == 0) cuts[image] = cut;
}

/// Writes the taken ones of a picture, a block for each: behind those of the pictures before it.
__global__ void take_samples_kernel(std::int64_t* index, std::int64_t* positives,
                                    std::int64_t* counts, const SampleCut* cuts,
                                    const std::uint32_t* words, const std::int64_t* matches,
                                    SampleRules rules) {
    const std::int64_t image = blockIdx.x, start = image * rules.candidates;
    std::int64_t taken = 0, matching = 0;
    for (std::int64_t i = 0; i < image; ++i) {
        taken += cuts[i].positive.taken + cuts[i].negative.taken;
        matching += cuts[i].positive.taken;
    }
    const SampleCut cut = cuts[image];
    std::int64_t ties[2] = {0, 0};  // of positives, of negatives
    for (std::int64_t first = 0; first < rules.candidates; first += sample_threads) {
        const std::int64_t i = first + threadIdx.x;
        const std::int64_t match = i < rules.candidates ? matches[start + i] : -2;
        const bool positive = match >= 0, counts_at_all = match >= -1;
        const std::uint32_t word = counts_at_all ? words[start + i] : 0;
        const KeyCut& own = positive ? cut.positive : cut.negative;
        const bool equal = counts_at_all && word == own.limit;
        int all;
        const int positive_tie = block_offset<sample_threads>(equal && positive, all);
        const std::int64_t positive_ties = all;
        const int negative_tie = block_offset<sample_threads>(equal && !positive, all);
        const std::int64_t tie = positive ? ties[0] + positive_tie : ties[1] + negative_tie;
        ties[0] += positive_ties;
        ties[1] += all;
        const bool chosen =
            own.taken > 0 && ((counts_at_all && word < own.limit) || (equal && tie < own.ties));
        const std::int64_t place = taken + block_offset<sample_threads>(chosen, all);
        taken += all;
        const std::int64_t of_positives =
            matching + block_offset<sample_threads>(chosen && positive, all);
        matching += all;
        if (chosen) index[place] = start + i;
        if (chosen && positive) positives[of_positives] = place;
    }
    if (image == rules.images - 1 && threadIdx.x == 0) {
        counts[0] = taken;
        counts[1] = matching;
    }
}

}  // namespace

void balanced_sample(std::int64_t* index, std::int64_t* positives, std::int64_t* counts,
                     const std::int64_t* matches, const std::int64_t* draws,
                     const SampleRules& rules, Stream stream) {
    if (rules.images == 0) return set_zero(counts, 2 * sizeof(std::int64_t), stream);
    WorkspaceParts parts;
    const std::int64_t all = rules.images * rules.candidates;
    const std::size_t words_at = parts.take(static_cast<std::size_t>(all) * sizeof(std::uint32_t));
    const std::size_t cuts_at =
        parts.take(static_cast<std::size_t>(rules.images) * sizeof(SampleCut));
    auto* const scratch = static_cast<std::byte*>(workspace(parts.total(), stream));
    auto* const words = reinterpret_cast<std::uint32_t*>(scratch + words_at);
    auto* const cuts = reinterpret_cast<SampleCut*>(scratch + cuts_at);
    launch("draw_words", draw_words_kernel,
           grid_for(std::max(all / 4 + 1, rules.images * rules.count)), stream, words, index,
           positives, draws, rules);
    const Grid one_each{rules.images, sample_threads};
    launch("cut_samples", cut_samples_kernel, one_each, stream, cuts, words, matches, rules);
    launch("take_samples", take_samples_kernel, one_each, stream, index, positives, counts, cuts,
           words, matches, rules);
}

}  // namespace kernels::cuda
