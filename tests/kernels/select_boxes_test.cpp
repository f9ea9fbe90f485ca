#include "kernels/select_boxes.h"

#include <memory>

#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Boxes of whole pixels that overlap much.
Buffer crowded_boxes(std::int64_t n, bool with_picture, unsigned seed) {
    std::mt19937 engine(seed);
    const auto whole = [&](unsigned most) { return static_cast<double>(engine() % most); };
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = whole(50), y = whole(50);
        if (with_picture) values.push_back(whole(4) - 1);
        values.insert(values.end(), {x, y, x + 1 + whole(30), y + 1 + whole(30)});
    }
    return {DType::f32, values};
}

/// Rows of numbers in [0, 1] that sum to 1 at most; many are equal.
Buffer coarse_scores(std::int64_t rows, std::int64_t columns, unsigned seed) {
    std::mt19937 engine(seed);
    Buffer scores(DType::f32, rows * columns);
    for (std::int64_t r = 0; r < rows; ++r) {
        double left = 1;
        for (std::int64_t c = 0; c < columns; ++c) {
            const double score = std::min(left, static_cast<double>(engine() % 5) / 8);
            scores.set(r * columns + c, score);
            left -= score;
        }
    }
    return scores;
}

TEST(CudaSelectBoxes, ProposesWhatTheCpuProposes) {
    HALFTONE_NEEDS_CUDA();
    const std::int64_t sizes_of_levels[] = {700, 90, 3};
    Buffer anchors = crowded_boxes(793, false, 1), sizes(DType::i64, {60, 70, 40, 80});
    const DeviceBuffer around(anchors), size(sizes);
    for (const std::int64_t before : {0, 5, 300}) {
        std::vector<std::unique_ptr<Buffer>> host;
        std::vector<std::unique_ptr<DeviceBuffer>> device;
        std::vector<ProposalLevel> on_cpu, on_cuda;
        const auto add = [&](Buffer values) {
            host.push_back(std::make_unique<Buffer>(std::move(values)));
            device.push_back(std::make_unique<DeviceBuffer>(*host.back()));
        };
        for (const std::int64_t n : sizes_of_levels) {
            Buffer logits = random_buffer(DType::f32, 2 * n, static_cast<unsigned>(n));
            for (std::int64_t i = 0; i < 2 * n; ++i)
                logits.set(i, std::round(4 * logits.get(i)) / 4);
            logits.set(1, nan);
            logits.set(n, -inf);
            add(std::move(logits));
            add(random_buffer(DType::f32, 8 * n, static_cast<unsigned>(n) + 1, 0, 0.3));
            const std::size_t at = host.size() - 2;
            on_cpu.push_back({host[at]->as<float>(), host[at + 1]->as<float>(), n});
            on_cuda.push_back({device[at]->as<float>(), device[at + 1]->as<float>(), n});
        }
        const ProposalRules rules{2, before, 40, 0.5, 1};
        Buffer boxes = poisoned(DType::f32, 2 * 40 * 4), counts = poisoned(DType::i64, 2);
        cpu::select_proposals(boxes.as<float>(), counts.as<std::int64_t>(), on_cpu,
                              anchors.as<float>(), sizes.as<std::int64_t>(), rules, {});
        const DeviceBuffer found(DType::f32, boxes.size()), numbers(DType::i64, 2);
        cuda::select_proposals(found.as<float>(), numbers.as<std::int64_t>(), on_cuda,
                               around.as<float>(), size.as<std::int64_t>(), rules, {});
        ASSERT_TRUE(same(numbers.host(), counts)) << before;
        // exp() of a card may be an ulp off, four roundings of numbers up to 80 follow.
        const Buffer got = found.host();
        for (std::int64_t i = 0; i < boxes.size(); ++i)
            ASSERT_NEAR(got.get(i), boxes.get(i), 8 * 80 * 0x1p-24) << before << " " << i;
    }
}

TEST(CudaSelectBoxes, FindsWhatTheCpuFinds) {
    HALFTONE_NEEDS_CUDA();
    constexpr std::int64_t rois = 300, classes = 6;
    Buffer regions = crowded_boxes(rois, true, 2), sizes(DType::i64, {60, 70, 40, 80}),
           scores = coarse_scores(rois, classes, 3),
           deltas = random_buffer(DType::f32, rois * classes * 4, 4);
    const DeviceBuffer region(regions), size(sizes), score(scores), delta(deltas);
    for (const std::int64_t most : {7, 400}) {
        const DetectionRules rules{2, rois, classes, most, 0.2f, 2, 0.4};
        Buffer rows = poisoned(DType::f32, 2 * most * 6), counts = poisoned(DType::i64, 2);
        cpu::select_detections(rows.as<float>(), counts.as<std::int64_t>(), scores.as<float>(),
                               deltas.as<float>(), regions.as<float>(), sizes.as<std::int64_t>(),
                               rules, {});
        ASSERT_GT(counts.get(0), 5);
        const DeviceBuffer found(DType::f32, rows.size()), numbers(DType::i64, 2);
        cuda::select_detections(found.as<float>(), numbers.as<std::int64_t>(), score.as<float>(),
                                delta.as<float>(), region.as<float>(), size.as<std::int64_t>(),
                                rules, {});
        ASSERT_TRUE(same(numbers.host(), counts)) << most;
        const Buffer got = found.host();
        for (std::int64_t i = 0; i < rows.size(); ++i)
            ASSERT_NEAR(got.get(i), rows.get(i), 8 * 80 * 0x1p-24) << most << " " << i;
    }
}

}  // namespace
}  // namespace kernels::test
