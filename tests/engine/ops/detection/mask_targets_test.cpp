#include "ops/detection/mask_targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "drawn.h"
#include "engine/base/error.h"
#include "support/expectations.h"

namespace engine {
namespace {

using Values = std::vector<double>;

/// The script's INSTANCES: left, top, width, height.
constexpr std::int64_t instances[][4] = {
    {3, 5, 70, 80}, {100, 40, 17, 9}, {0, 0, 150, 90}, {149, 89, 1, 1}};

struct Masks {
    std::vector<std::int64_t> places, words;

    /// The drawn instances of one picture, one after the other.
    void add() {
        std::int64_t first = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const auto [left, top, width, height] = instances[i];
            const std::int64_t stride = (width + 63) / 64;
            places.insert(places.end(), {left, top, width, height, first});
            const Values drawn = draw(600 + i, {height, width}).values();
            std::vector<std::uint64_t> bits(static_cast<std::size_t>(stride * height));
            for (std::int64_t y = 0; y < height; ++y)
                for (std::int64_t x = 0; x < width; ++x)
                    if (static_cast<float>(drawn[static_cast<std::size_t>(y * width + x)]) < 0.6f)
                        bits[static_cast<std::size_t>(y * stride + x / 64)] |= std::uint64_t{1}
                                                                               << (x % 64);
            for (const std::uint64_t word : bits) words.push_back(static_cast<std::int64_t>(word));
            first += stride * height;
        }
    }
};

Tensor i64_tensor(const std::vector<std::int64_t>& values, const Shape& shape) {
    const Tensor y = Tensor::empty(shape, DType::i64, Device{});
    std::copy(values.begin(), values.end(), y.data_as<std::int64_t>());
    return y.copy_to(default_device());
}

struct Call {
    Tensor rois, instances, places, bits, sizes;
    Tensor operator()(const std::array<std::int64_t, 2>& size = {28, 28}) const {
        return mask_targets(rois, instances, places, bits, sizes, size);
    }
};

/// The script's MASK_ROIS, of the second of two equal pictures.
Call golden_call() {
    const Values rois{0, 2.3,    4.1,    60.7,  77.2,  0, -30.2, -3.1, 90.3,  50.9,
                      1, 99.2,   39.1,   118.3, 50.4,  1, 104.3, 42.2, 104.9, 42.6,
                      2, -600.1, -610.3, 730.2, 720.9, 2, 20.4,  30.3, 140.8, 88.6,
                      3, 120.1,  80.2,   160.3, 95.1};
    Values placed = rois;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < rois.size(); i += 5) {
        numbers.push_back(static_cast<std::int64_t>(rois[i]));
        placed[i] = 1;
    }
    Masks masks;
    masks.add();
    masks.add();
    const auto words = static_cast<std::int64_t>(masks.words.size() / 2);
    return {Tensor::of(placed, {7, 5}), i64_tensor(numbers, {7}), i64_tensor(masks.places, {2, 4, 5}),
            i64_tensor(masks.words, {2, words}), i64_tensor({90, 150, 90, 150}, {2, 2})};
}

TEST(MaskTargets, AreRoiAlignOfTheBitmap) {
    const Tensor y = golden_call()();
    EXPECT_EQ(y.shape(), (Shape{7, 28, 28}));
    EXPECT_EQ(y.dtype(), DType::f32);
    const Values got = y.values(), wanted = golden("masks");
    ASSERT_EQ(got.size(), wanted.size());
    // 48 samples a side at most: a sum of 4 times 48² products, and a coordinate near 700 that is
    // rounded four times, whose bitmap's steps are 1.
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 0x1p-24 * (4 * 2 * 730 + 8 * std::sqrt(4.0 * 48 * 48) + 18)) << i;
}

TEST(MaskTargets, AreZeroForWhatDoesNotExist) {
    Call call = golden_call();
    const auto all_zero = [&] {
        const Values values = call().values();
        return std::ranges::all_of(values, [](double v) { return v == 0; });
    };
    EXPECT_FALSE(all_zero());
    const Call kept = call;
    call.instances = Tensor::full({7}, 4, DType::i64);
    EXPECT_TRUE(all_zero());
    call.instances = Tensor::full({7}, -1, DType::i64);
    EXPECT_TRUE(all_zero());
    call = kept;
    call.bits = Tensor::full({2, 3}, -1, DType::i64);  // the crops reach beyond
    call.instances = Tensor::full({7}, 1, DType::i64);
    EXPECT_TRUE(all_zero());
    call = kept;
    Values rois = call.rois.values();
    for (std::size_t i = 0; i < rois.size(); i += 5) rois[i] = i % 2 == 0 ? -1 : 2;
    call.rois = Tensor::of(rois, {7, 5});
    EXPECT_TRUE(all_zero());
}

TEST(MaskTargets, RefuseOtherShapesAndTypes) {
    const Call call = golden_call();
    message_of(ErrorCode::value, [&] { call({0, 28}); });
    Call other = call;
    other.bits = Tensor::zeros({1, 3}, DType::i64);
    message_of(ErrorCode::shape, [&] { other(); });
    other = call;
    other.places = Tensor::zeros({2, 4, 5}, DType::f32);
    message_of(ErrorCode::dtype, [&] { other(); });
}

}  // namespace
}  // namespace engine
