#include "kernels/match_boxes.h"

#include "kernels/balanced_sample.h"
#include "kernels/mask_targets.h"
#include "kernels/twins.h"

/// Matching, sampling and the targets of masks: decisions, so all bits are equal.
namespace kernels::test {
namespace {

/// Boxes within `extent` pixels on a coarse grid, so that IoUs tie; some have no area.
Buffer drawn_boxes(std::int64_t n, int extent, unsigned seed) {
    std::mt19937 engine(seed);
    const auto whole = [&](int most) {
        return static_cast<int>(engine() % static_cast<unsigned>(most));
    };
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
        const int x = whole(extent) / 4 * 4, y = whole(extent) / 4 * 4;
        values.insert(values.end(),
                      {double(x), double(y), double(x + 4 * whole(5)), double(y + 4 * whole(5))});
    }
    return {DType::f32, values};
}

TEST(CudaMatchBoxes, DecidesAsTheCpu) {
    HALFTONE_NEEDS_CUDA();
    for (const bool shared : {false, true})
        for (const bool low_quality : {false, true})
            for (const std::int64_t boxes : {0, 1, 7}) {
                const MatchShape shape{2, boxes, 301, shared};
                Buffer box = drawn_boxes(2 * boxes, 40, 1);
                Buffer candidate = drawn_boxes(shared ? 301 : 602, 40, 2);
                const MatchRules rules{0.6f, 0.3f, low_quality};
                Buffer expected = poisoned(DType::i64, 602);
                cpu::match_boxes(expected.as<std::int64_t>(), box.as<float>(),
                                 candidate.as<float>(), shape, rules, {});
                const DeviceBuffer on_box(box), on_candidate(candidate), y(DType::i64, 602);
                cuda::match_boxes(y.as<std::int64_t>(), on_box.as<float>(),
                                  on_candidate.as<float>(), shape, rules, {});
                ASSERT_TRUE(same(y.host(), expected)) << boxes;
            }
}

TEST(CudaBalancedSample, TakesWhatTheCpuTakes) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t candidates : {0, 3, 1201})
        for (const std::int64_t count : {0, 5, 64, 900}) {
            const SampleRules rules{3, candidates, count, count / 2, 1};
            std::mt19937 engine(static_cast<unsigned>(candidates + count));
            Buffer matches(DType::i64, 3 * candidates), draws(DType::i64, {5, -7, 1e15});
            for (std::int64_t i = 0; i < matches.size(); ++i)
                matches.set(i, static_cast<double>(engine() % 6) - (i < candidates ? 2 : 4));
            for (std::int64_t i = 0; i < matches.size(); ++i)
                if (matches.get(i) < -2) matches.set(i, -1);
            Buffer index = poisoned(DType::i64, 3 * count),
                   positives = poisoned(DType::i64, 3 * (count / 2)), counts(DType::i64, 2);
            cpu::balanced_sample(index.as<std::int64_t>(), positives.as<std::int64_t>(),
                                 counts.as<std::int64_t>(), matches.as<std::int64_t>(),
                                 draws.as<std::int64_t>(), rules, {});
            const DeviceBuffer match(matches), draw(draws), taken(DType::i64, index.size()),
                matching(DType::i64, positives.size()), numbers(DType::i64, 2);
            cuda::balanced_sample(taken.as<std::int64_t>(), matching.as<std::int64_t>(),
                                  numbers.as<std::int64_t>(), match.as<std::int64_t>(),
                                  draw.as<std::int64_t>(), rules, {});
            ASSERT_TRUE(same(taken.host(), index)) << candidates << " " << count;
            ASSERT_TRUE(same(matching.host(), positives)) << candidates << " " << count;
            ASSERT_TRUE(same(numbers.host(), counts)) << candidates << " " << count;
        }
}

TEST(CudaMaskTargets, HasTheBitsOfTheCpu) {
    HALFTONE_NEEDS_CUDA();
    // A picture of 90 x 130 with crops of 100 x 40 (two words a row) and 30 x 50 pixels.
    Buffer places(DType::i64, {7, 9, 100, 40, 0, 20, 30, 30, 50, 80, 0, 0, 0, 0, 0}),
        sizes(DType::i64, {90, 130}), bits(DType::i64, 130);
    std::mt19937_64 engine(3);
    for (std::int64_t i = 0; i < bits.size(); ++i)
        bits.as<std::uint64_t>()[i] = engine() & engine();
    const double rows[][5] = {{0, 3.3, 4.1, 120.7, 80.2}, {0, 10, 20, 30, 33},
                              {0, -400, -300, 900, 700},  {0, 40, 40, 40.1, 40.1},
                              {-1, 1, 1, 9, 9},           {1, 1, 1, 9, 9},
                              {0, 9, 9, 99, 60},          {0, 50, 50, 60, 20}};
    std::vector<double> values;
    for (const auto& row : rows) values.insert(values.end(), std::begin(row), std::end(row));
    Buffer rois(DType::f32, values), instances(DType::i64, {0, 1, 0, 0, 0, 0, 9, 1});
    const std::int64_t count = instances.size();
    const auto masks = [](auto& place, auto& bit, auto& size) {
        return MaskBits{place.template as<std::int64_t>(),
                        bit.template as<std::uint64_t>(),
                        size.template as<std::int64_t>(),
                        1,
                        3,
                        130};
    };
    Buffer expected = poisoned(DType::f32, count * 5 * 7);
    cpu::mask_targets(expected.as<float>(), rois.as<float>(), instances.as<std::int64_t>(), count,
                      5, 7, masks(places, bits, sizes), {});
    const DeviceBuffer place(places), bit(bits), size(sizes), roi(rois), instance(instances),
        y(DType::f32, expected.size());
    cuda::mask_targets(y.as<float>(), roi.as<float>(), instance.as<std::int64_t>(), count, 5, 7,
                       masks(place, bit, size), {});
    ASSERT_TRUE(same(y.host(), expected));
}

}  // namespace
}  // namespace kernels::test
