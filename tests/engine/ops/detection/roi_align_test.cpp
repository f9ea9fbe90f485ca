#include "ops/detection/roi_align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "drawn.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "kernels/parallel.h"
#include "ops/pointwise/binary.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using Values = std::vector<double>;
using Size = std::array<std::int64_t, 2>;

/// Case i of the script's roi_case().
struct Case {
    std::int64_t i, c = 1 + i % 5, h = 3 + i * 7 % 19, w = 3 + i * 5 % 23, k = i % 5;
    Size out{1 + i % 4, 1 + i / 4 % 4};
    std::int64_t ratio = std::array{-1, 1, 2, 3}[static_cast<std::size_t>(i % 4)];
    bool aligned = i / 4 % 2 == 1;
    double scale = std::array{1.0, 0.5, 0.25}[static_cast<std::size_t>(i % 3)];
    DType dtype = i % 8 < 5    ? DType::f32
                  : i % 8 == 5 ? DType::f64
                  : i % 8 == 6 ? DType::f16
                               : DType::bf16;

    std::uint32_t number() const {
        static const Values numbers = golden("roi_align.draw");
        return static_cast<std::uint32_t>(numbers[static_cast<std::size_t>(i)]);
    }
    Tensor x() const { return to(draw(number() + 3, {2, c, h, w}, -1, 1), dtype); }
    Tensor rois() const {
        const Values corner = draw(number(), {k, 2}, -0.3, 1.1).values(),
                     side = draw(number() + 1, {k, 2}, i % 8 == 4 ? 0.02 : -0.2, 0.8).values(),
                     picture = draw(number() + 2, {k, 1}).values();
        const float size[] = {static_cast<float>(w) / static_cast<float>(scale),
                              static_cast<float>(h) / static_cast<float>(scale)};
        Values values;
        for (std::size_t r = 0; r < picture.size(); ++r) {
            values.push_back(std::floor(picture[r] * 2));
            float low[2], high[2];
            for (std::size_t a = 0; a < 2; ++a) {
                low[a] = static_cast<float>(corner[2 * r + a]) * size[a];
                const float full = static_cast<float>(side[2 * r + a]) * size[a];
                high[a] = low[a] + (i % 10 == 9 ? full * 0.01f : full);
            }
            values.insert(values.end(), {low[0], low[1], high[0], high[1]});
        }
        return Tensor::of(values, {k, 5});
    }
    Tensor align(const Tensor& map) const {
        return roi_align(map, rois(), out, scale, ratio, aligned);
    }
    /// Four roundings of a coordinate times the largest step between neighbours (2), and the
    /// roundings of a sum of 4 ratio² terms of at most 1.
    double bound() const {
        const double samples = ratio > 0 ? static_cast<double>(ratio)
                                         : std::ceil(0.8 * static_cast<double>(std::max(h, w)));
        const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
        return unit * (4 * static_cast<double>(std::max(h, w)) * 2 + 10 + 8 * samples * samples);
    }
};

TEST(RoiAlign, HasTorchvisionsValuesInTwoHundredCases) {
    for (std::int64_t i = 0; i < 200; ++i) {
        SCOPED_TRACE(i);
        const Case each{i};
        const Tensor y = each.align(each.x());
        EXPECT_EQ(y.dtype(), each.dtype);
        EXPECT_TRUE(y.is_channels_last());
        const Values got = y.values(), wanted = golden("roi_align." + std::to_string(i));
        ASSERT_EQ(got.size(), wanted.size());
        const double stored = each.dtype == DType::f16    ? 0x1p-11
                              : each.dtype == DType::bf16 ? 0x1p-8
                                                          : 0;
        for (std::size_t v = 0; v < got.size(); ++v)
            EXPECT_LE(std::abs(got[v] - wanted[v]), each.bound() + stored * std::abs(wanted[v]))
                << v;
    }
}

TEST(RoiAlign, HasTorchvisionsGradients) {
    for (std::int64_t i = 3; i < 200; i += 20) {
        SCOPED_TRACE(i);
        const Case each{i};
        if (each.k == 0) continue;
        const DType wide = wide_type(each.dtype);
        Tensor x = to(each.x(), wide);
        x.set_requires_grad(true);
        const Tensor y = each.align(x);
        const Tensor dy = to(draw(each.number() + 4000, y.shape(), -1, 1), wide);
        backward({&y, 1}, std::vector{dy});
        const Values got = x.grad().values(), wanted = golden("roi_align." + std::to_string(i) + ".dx");
        ASSERT_EQ(got.size(), wanted.size());
        // A pixel adds up at most all bins of all RoIs, with weights whose sum a bin is 1.
        const double terms = static_cast<double>(each.k * each.out[0] * each.out[1]);
        for (std::size_t v = 0; v < got.size(); ++v)
            EXPECT_LE(std::abs(got[v] - wanted[v]), terms * each.bound()) << v;
    }
}

TEST(RoiAlign, RoundsGradientsOf16BitsOnce) {
    for (const DType low : {DType::f16, DType::bf16}) {
        std::int64_t compared = 0;
        for (std::int64_t i = 0; i < 200; ++i) {
            const Case each{i};
            if (each.dtype != low || each.k == 0) continue;
            SCOPED_TRACE(i);
            const auto gradient = [&](DType dtype) {
                Tensor x = to(to(each.x(), low), dtype);
                x.set_requires_grad(true);
                const Tensor y = each.align(x);
                const Tensor dy = to(to(draw(each.number() + 4000, y.shape(), -1, 1), low), dtype);
                backward({&y, 1}, std::vector{dy});
                return x.grad();
            };
            const Tensor narrow = gradient(low);
            EXPECT_EQ(narrow.dtype(), low);
            EXPECT_EQ(narrow.values(), to(gradient(DType::f32), low).values());
            ++compared;
        }
        EXPECT_GT(compared, 10);
    }
}

TEST(RoiAlign, HasTheGradientsOfFiniteDifferences) {
    const Tensor rois = Tensor::of({0, -1, 0.5, 4.5, 3, 1, 1, 1, 1, 1, 0, 2, 2, 9, 9}, {3, 5});
    for (const std::int64_t ratio : {-1, 2})
        for (const bool aligned : {false, true}) {
            const Function f = [&](const TensorList& in) {
                return roi_align(in[0], rois, {2, 3}, 0.8, ratio, aligned);
            };
            TensorList inputs{random_tensor({2, 3, 5, 6}, DType::f64, 3)};
            inputs[0].set_requires_grad(true);
            expect_gradients(f, inputs);
            expect_second_gradients(
                [&](const TensorList& in) {
                    const Tensor y = f(in);
                    return mul(y, y);
                },
                inputs);
        }
}

TEST(RoiAlign, HasTheSameBitsForAnyNumberOfThreads) {
    const Tensor boxes = draw_boxes(31, 120, 70, 1, 60);
    Values rois;
    const Values corners = boxes.values();
    for (std::size_t k = 0; k < 120; ++k) {
        rois.push_back(static_cast<double>(k % 2));
        rois.insert(rois.end(), corners.begin() + static_cast<std::ptrdiff_t>(4 * k),
                    corners.begin() + static_cast<std::ptrdiff_t>(4 * k + 4));
    }
    // On the host, whose threads they are.
    const Tensor places = Tensor::of(rois, {120, 5}).copy_to(Device{});
    const int before = kernels::cpu::threads();
    std::vector<Values> results;
    for (const int count : {1, 2, 4}) {
        kernels::cpu::set_threads(count);
        Tensor x = draw(33, {2, 70, 50, 44}, -1, 1).copy_to(Device{});
        x.set_requires_grad(true);
        const Tensor y = roi_align(x, places, {7, 7}, 0.5, 2);
        backward({&y, 1}, std::vector{draw(34, y.shape(), -1, 1).copy_to(Device{})});
        results.push_back(y.values());
        results.push_back(x.grad().values());
    }
    kernels::cpu::set_threads(before);
    for (std::size_t i = 2; i < results.size(); ++i) EXPECT_EQ(results[i], results[i % 2]);
}

TEST(RoiAlign, GivesZeroForEmptySlotsAndNaN) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN(),
                     far = std::numeric_limits<double>::infinity();
    const Tensor x = Tensor::full({1, 2, 4, 4}, 3, DType::f32);
    const Tensor rois = Tensor::of(
        {-1, 0, 0, 4, 4, 0, nothing, 0, 4, 4, 0, 0, 0, far, 4, nothing, 0, 0, 4, 4, 0, 0, 0, 3, 3}, {5, 5});
    const Values y = roi_align(x, rois, {1, 1}).values();
    EXPECT_EQ(y, (Values{0, 0, 0, 0, 0, 0, 0, 0, 3, 3}));
    // A RoI of any size takes no longer than the map has pixels.
    const Tensor huge = Tensor::of({0, -1e30, -1e30, 1e30, 1e30}, {1, 5});
    for (const double each : roi_align(x, huge, {7, 7}).values()) EXPECT_NEAR(each, 0, 1e-6);
    EXPECT_EQ(roi_align(x, Tensor::zeros({0, 5}, DType::f32), {7, 7}).shape(), (Shape{0, 2, 7, 7}));
}

TEST(RoiAlign, RefusesAPictureThatIsNotThere) {
    const Tensor x = Tensor::full({2, 1, 4, 4}, 3, DType::f32);
    const auto align = [&](double picture) {
        return roi_align(x, Tensor::of({0, 0, 0, 2, 2, picture, 0, 0, 4, 4}, {2, 5}), {2, 2});
    };
    for (const double picture : {2.0, -2.0, 1e9})
        EXPECT_NE(message_of(ErrorCode::value, [&] { align(picture).values(); })
                      .find("is outside the 2 pictures"),
                  std::string::npos);
    EXPECT_NO_THROW(align(1).values());
    message_of(ErrorCode::shape, [&] { roi_align(x, Tensor::zeros({1, 4}, DType::f32), {2, 2}); });
    message_of(ErrorCode::value, [&] { roi_align(x, Tensor::zeros({1, 5}, DType::f32), {0, 2}); });
}

TEST(RoiAlign, KeepsItsInputsTypeInARegionAndReadsRoisInF32) {
    Values ramp;
    for (int i = 0; i < 512; ++i) ramp.push_back(i % 256 - 201);
    const Tensor wide = Tensor::of(ramp, {1, 1, 2, 256}), x = to(wide, DType::bf16);
    const Tensor rois = Tensor::of({0, 200.3, 0, 202.3, 1}, {1, 5});  // 200 and 202 in bf16
    const Values outside = roi_align(wide, rois, {1, 1}).values();
    const Values rounded =
        roi_align(wide, Tensor::of({0, 200, 0, 202, 1}, {1, 5}), {1, 1}).values();
    ASSERT_GT(std::abs(outside[0] - rounded[0]), 0.2);
    const AutocastRegion region(here, true, DType::bf16);
    const auto inside = region.enter();
    EXPECT_EQ(roi_align(x, rois, {1, 1}).dtype(), DType::bf16);
    EXPECT_NEAR(roi_align(x, rois, {1, 1}).values()[0], outside[0], 0.01);
    EXPECT_EQ(roi_align(wide, rois, {1, 1}).dtype(), DType::f32);
    EXPECT_EQ(roi_align(wide, rois, {1, 1}).values(), outside);
}

Tensor with_picture(const Values& boxes) {
    Values rois;
    for (std::size_t i = 0; i < boxes.size(); i += 4) {
        rois.push_back(0);
        rois.insert(rois.end(), boxes.begin() + static_cast<std::ptrdiff_t>(i),
                    boxes.begin() + static_cast<std::ptrdiff_t>(i + 4));
    }
    return Tensor::of(rois, {static_cast<std::int64_t>(boxes.size() / 4), 5});
}

TEST(MultiScaleRoiAlign, ReadsTorchvisionsLevels) {
    TensorList maps;
    for (int i = 0; i < 4; ++i)
        maps.push_back(Tensor::full({1, 1, 256 >> i, 256 >> i}, i, DType::f32));
    Values boxes;
    for (const double side : {0, 111, 112, 223, 224, 447, 448, 900})
        boxes.insert(boxes.end(), {0, 0, side, side});
    EXPECT_EQ(multi_scale_roi_align(maps, with_picture(boxes), {1, 1}).values(), golden("levels"));
}

TEST(MultiScaleRoiAlign, IsTorchvisionsAndTheRoiAlignOfEachLevelInBothOrders) {
    TensorList maps;
    for (std::uint32_t i = 0; i < 4; ++i)
        maps.push_back(draw(50 + i, {1, 3, 64 >> i, 64 >> i}, -1, 1));
    const Tensor rois = with_picture(draw_boxes(55, 12, 180, 8, 120).values());
    const Tensor y = multi_scale_roi_align(maps, rois, {3, 3}, 56);
    const Tensor rows = multi_scale_roi_align(maps, rois, {3, 3}, 56, 2, true);
    EXPECT_TRUE(y.is_channels_last());
    EXPECT_TRUE(rows.is_contiguous());
    const Values values = y.values(), wanted = golden("multi_scale");
    EXPECT_EQ(rows.values(), values);
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], wanted[i], 0x1p-24 * (4 * 64 * 2 + 18));
    std::vector<bool> seen(values.size() / 27);
    for (std::size_t level = 0; level < 4; ++level) {
        const Values part =
            roi_align(maps[level], rois, {3, 3}, std::ldexp(0.25, -static_cast<int>(level)), 2)
                .values();
        for (std::size_t k = 0; k < seen.size(); ++k)
            if (std::equal(part.begin() + static_cast<std::ptrdiff_t>(27 * k),
                           part.begin() + static_cast<std::ptrdiff_t>(27 * k + 27),
                           values.begin() + static_cast<std::ptrdiff_t>(27 * k)))
                seen[k] = true;
    }
    EXPECT_EQ(std::ranges::count(seen, false), 0);
}

TEST(MultiScaleRoiAlign, HasTheSameGradientsInBothOrders) {
    const Tensor rois = with_picture(draw_boxes(55, 12, 180, 8, 120).values());
    std::vector<Values> gradients;
    for (const bool contiguous : {false, true}) {
        TensorList maps;
        for (std::uint32_t i = 0; i < 4; ++i) {
            maps.push_back(draw(50 + i, {1, 3, 64 >> i, 64 >> i}, -1, 1));
            maps.back().set_requires_grad(true);
        }
        const Tensor y = multi_scale_roi_align(maps, rois, {3, 3}, 56, 2, contiguous);
        backward({&y, 1}, std::vector{draw(60, y.shape(), -1, 1)});
        for (const Tensor& map : maps) gradients.push_back(map.grad().values());
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(gradients[i], gradients[i + 4]);
    const Tensor two = Tensor::zeros({1, 2, 4, 4}, DType::f32);
    message_of(ErrorCode::shape, [&] {
        multi_scale_roi_align({Tensor::zeros({1, 3, 4, 4}, DType::f32), two}, rois, {3, 3});
    });
    message_of(ErrorCode::value, [&] { multi_scale_roi_align({two}, rois, {3, 3}, 0); });
    message_of(ErrorCode::value, [&] { multi_scale_roi_align({}, rois, {3, 3}); });
}

}  // namespace
}  // namespace engine
