#include "data/detection/detection_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/image/image_transforms.h"
#include "peer/tensor_file.h"
#include "support/drawn_numbers.h"

// Samples beside torchvision's, from the file that tests/peer/detection_data_golden.py writes.
namespace engine {
namespace {

namespace field = detection_field;
using support::DrawnNumbers;
using ::testing::Each;
using ::testing::ElementsAre;

const peer::TensorMap& golden() {
    static const peer::TensorMap tensors =
        peer::read_tensors(HALFTONE_GOLDEN_DIR "/detection_data.safetensors.xz");
    return tensors;
}

struct Case {
    int height, width, short_side, long_side, objects;
};
constexpr std::array<Case, 6> cases{{{19, 13, 24, 64, 3},
                                     {40, 61, 17, 90, 2},
                                     {9, 31, 25, 48, 2},
                                     {1, 5, 4, 17, 1},
                                     {7, 1, 3, 64, 1},
                                     {32, 32, 32, 32, 2}}};

/// A picture with objects, and the memory of a sample of it.
struct Sample {
    Sample(Picture picture_, DetectionTruth truth_, const DetectionForm& form_)
        : picture(std::move(picture_)), truth(std::move(truth_)), form(form_) {
        size = resized_size({truth.height, truth.width}, form.short_sides.back(), form.long_side);
        schema = detection_schema({"a", "b"}, padded_size(size), capacity_of(truth, size),
                                  form.by_batch);
        places.resize(schema.fields.size());
        memory.resize(schema.fields.size());
        for (std::size_t f = 0; f < places.size(); ++f) {
            memory[f].assign(schema.fields[f].sample_bytes(), std::byte{0xFF});
            places[f] = {.data = memory[f].data(), .bytes = memory[f].size()};
        }
    }
    void make(bool flipped = false) {
        const SampleFields out(places);
        write_objects(out, truth, size, flipped);
        write_pixels(out, picture, size, padded_size(size), form, {flipped, 0}, nullptr);
    }
    SampleFields fields() { return SampleFields(places); }
    std::int64_t count() { return fields().rows(field::boxes); }
    std::span<float> box(std::size_t object) {
        return fields().f32(field::boxes).subspan(object * 4, 4);
    }
    /// The mask in the size of the resized picture.
    std::vector<double> mask(std::size_t object) {
        std::vector<double> out(static_cast<std::size_t>(size.height * size.width));
        const auto place = fields().i64(field::places).subspan(object * 5, 5);
        const auto words = fields().i64(field::bits);
        const std::int64_t each = (place[2] + 63) / 64;
        for (std::int64_t y = 0; y < place[3]; ++y)
            for (std::int64_t x = 0; x < place[2]; ++x) {
                const auto word = static_cast<std::uint64_t>(
                    words[static_cast<std::size_t>(place[4] + y * each + x / 64)]);
                out[static_cast<std::size_t>((place[1] + y) * size.width + place[0] + x)] =
                    static_cast<double>(word >> (x % 64) & 1);
            }
        return out;
    }

    Picture picture;
    DetectionTruth truth;
    DetectionForm form;
    CanvasSize size;
    Schema schema;
    std::vector<std::vector<std::byte>> memory;
    std::vector<SampleFields::Place> places;
};

Sample drawn(std::size_t number) {
    const Case& each = cases[number];
    DrawnNumbers draw(1101, static_cast<std::uint32_t>(number));
    Picture picture{each.width, each.height, {}};
    for (int i = 0; i < each.height * each.width * 3; ++i)
        picture.rgb.push_back(static_cast<std::uint8_t>(draw.below(256)));
    DetectionTruth truth{.height = each.height, .width = each.width};
    for (int i = 0; i < each.objects; ++i) {
        DetectionTruth::Annotation& object = truth.annotations.emplace_back();
        object.label = i % 2 + 1;
        object.box[0] = draw.below(4 * each.width) / 4.0;
        object.box[1] = draw.below(4 * each.height) / 4.0;
        object.box[2] = (1 + draw.below(4 * each.width)) / 4.0;
        object.box[3] = (1 + draw.below(4 * each.height)) / 4.0;
        std::vector<std::uint8_t> bitmap;
        for (int p = 0; p < each.height * each.width; ++p)
            bitmap.push_back(static_cast<std::uint8_t>(draw.below(2)));
        object.mask = encode_bitmap(bitmap, each.height, each.width);
    }
    return Sample(std::move(picture), std::move(truth),
                  {.short_sides = {each.short_side}, .long_side = each.long_side});
}

TEST(DetectionSample, HasTorchvisionsPixelsBoxesAndMasks) {
    // Two roundings for each of three interpolations, and the normalisation, which divides by 0.22:
    // 32 units of 2^-24 at values up to 2.7.
    constexpr double slack = 32 * 0x1p-24 * 2.7;
    for (std::size_t number = 0; number < cases.size(); ++number) {
        SCOPED_TRACE(number);
        Sample sample = drawn(number);
        sample.make();
        const std::string prefix = std::to_string(number) + ".";
        const peer::RawTensor& image = golden().at(prefix + "image");
        const Shape& canvas = sample.schema.fields[field::image].shape;
        ASSERT_THAT(image.shape, ElementsAre(3, canvas[1], canvas[2]));
        const auto expected = image.values();
        const auto pixels = sample.fields().f32(field::image);
        const std::size_t plane = static_cast<std::size_t>(canvas[1] * canvas[2]);
        for (std::size_t i = 0; i < plane; ++i)
            for (std::size_t c = 0; c < 3; ++c)
                ASSERT_NEAR(pixels[i * 3 + c], expected[c * plane + i], slack) << i << ' ' << c;
        const peer::RawTensor& masks = golden().at(prefix + "masks");
        const auto boxes = golden().at(prefix + "boxes").values(), bits = masks.values();
        ASSERT_THAT(masks.shape,
                    ElementsAre(cases[number].objects, sample.size.height, sample.size.width));
        const auto area = static_cast<std::size_t>(sample.size.height * sample.size.width);
        std::int64_t count = 0;  // those without an area or a pixel do not train
        for (std::size_t object = 0; object * 4 < boxes.size(); ++object) {
            const auto box = std::span(boxes).subspan(object * 4, 4);
            const auto mask = std::span(bits).subspan(object * area, area);
            const bool has_pixels = std::ranges::find(mask, 1.0) != mask.end();
            if (box[2] <= box[0] || box[3] <= box[1] || !has_pixels) continue;
            ASSERT_LT(count, sample.count());
            const auto at = static_cast<std::size_t>(count++);
            for (std::size_t i = 0; i < 4; ++i)
                EXPECT_EQ(static_cast<double>(sample.box(at)[i]), box[i]) << object;
            EXPECT_THAT(sample.mask(at), ::testing::ElementsAreArray(mask)) << object;
        }
        EXPECT_EQ(sample.count(), count);
        EXPECT_THAT(sample.fields().i64(field::size),
                    ElementsAre(sample.size.height, sample.size.width, cases[number].height,
                                cases[number].width));
    }
}

TEST(DetectionSample, RoundsSidesDownAsTorchvision) {
    std::vector<double> short_ones;
    for (std::int64_t side = 1; side <= 4000; ++side)
        if (resized_size({side, side}, 800, 1333) == CanvasSize{799, 799})
            short_ones.push_back(static_cast<double>(side));
    EXPECT_EQ(short_ones, golden().at("sides").values());
    EXPECT_EQ(resized_size({427, 640}, 800, 1333), (CanvasSize{800, 1199}));
    EXPECT_EQ(resized_size({100, 1000}, 800, 1333).width, 1333);
}

TEST(DetectionSample, IsMirroredWhole) {
    Sample plain = drawn(0), flipped = drawn(0), mirrored = drawn(0);
    mirror(mirrored.picture);
    for (DetectionTruth::Annotation& each : mirrored.truth.annotations) {
        auto bitmap = decode_bitmap(std::get<RunLength>(each.mask));
        const std::int32_t width = mirrored.truth.width;
        for (auto row = bitmap.begin(); row != bitmap.end(); row += width)
            std::reverse(row, row + width);
        each.mask = encode_bitmap(bitmap, mirrored.truth.height, width);
        const double right = std::min(each.box[0] + each.box[2], static_cast<double>(width));
        each.box[2] = right - each.box[0];
        each.box[0] = width - right;
    }
    plain.make();
    flipped.make(/*flipped=*/true);
    mirrored.make();
    ASSERT_GT(flipped.count(), 0);
    EXPECT_EQ(flipped.memory, mirrored.memory);
    EXPECT_NE(flipped.memory, plain.memory);
}

TEST(DetectionSample, LeavesOutCrowdsDifficultOnesAndWhatHasNoAreaLeft) {
    Sample sample = drawn(5);
    auto& all = sample.truth.annotations;
    all.resize(1);
    all[0].box = {2, 3, 4, 5};
    const DetectionTruth::Annotation good = all[0];
    all.insert(all.end(), 5, good);
    all[0].crowd = true;
    all[1].difficult = true;
    all[2].box = {32, 3, 4, 5};                                            // outside
    all[3].mask = encode_bitmap(std::vector<std::uint8_t>(1024), 32, 32);  // empty
    all[4].box = {-1e300, 3, 2e300, 5};                                    // without a width in f32
    Sample made(sample.picture, sample.truth, sample.form);
    made.make();
    EXPECT_EQ(made.count(), 1);
    EXPECT_THAT(made.box(0), ElementsAre(2, 3, 6, 8));
}

TEST(DetectionSample, TrainsABoxWithoutAMask) {
    Sample sample = drawn(5);
    sample.truth.annotations.resize(1);
    sample.truth.annotations[0].box = {-3, 3, 4, 50};
    sample.truth.annotations[0].mask = std::monostate();
    Sample made(sample.picture, sample.truth, sample.form);
    made.make();
    ASSERT_EQ(made.count(), 1);
    EXPECT_THAT(made.box(0), ElementsAre(0, 3, 1, 32)) << "clipped";
    EXPECT_THAT(made.fields().i64(field::places), Each(0));
}

TEST(DetectionSample, HasRoomForMasksAtAnySize) {
    for (std::size_t number = 0; number < cases.size(); ++number) {
        Sample sample = drawn(number);
        for (const std::int64_t side : {1, 5, 31, 64, 200}) {
            const CanvasSize size =
                resized_size({sample.truth.height, sample.truth.width}, side, 999);
            const DetectionCapacity capacity = capacity_of(sample.truth, size);
            Sample made(sample.picture, sample.truth, {.short_sides = {side}, .long_side = 999});
            made.make();
            const auto places = made.fields().i64(field::places);
            std::int64_t used = 0;
            for (std::size_t i = 0; i < places.size(); i += 5)
                used += places[i + 3] * ((places[i + 2] + 63) / 64);
            EXPECT_LE(used, capacity.words) << number << ' ' << side;
            EXPECT_LE(made.count(), capacity.objects);
        }
    }
}

TEST(DetectionSample, DrawsSidesAndFlipsByThePlace) {
    const DetectionForm form{.short_sides = {640, 672, 704}, .flips = true};
    std::map<std::int64_t, int> sides;
    int flips = 0;
    for (std::uint64_t position = 0; position < 3000; ++position) {
        const SamplePlace place{7, 2, position};
        const DetectionDraw draw = draw_detection(form, &place);
        ++sides[draw.short_side];
        flips += draw.flipped ? 1 : 0;
    }
    for (const std::int64_t side : form.short_sides) EXPECT_NEAR(sides[side], 1000, 100) << side;
    EXPECT_NEAR(flips, 1500, 100);
    EXPECT_EQ(draw_detection(form, nullptr).short_side, 704) << "evaluation takes the last";
    EXPECT_FALSE(draw_detection(form, nullptr).flipped);
}

TEST(DetectionSample, TypicalObjectsFillTheSchema) {
    for (const DetectionCapacity& capacity : {DetectionCapacity{5, 400}, {12, 3}, {1, 1}}) {
        Sample sample({}, {.height = 96, .width = 160},
                      {.short_sides = {96}, .long_side = 160, .by_batch = false});
        sample.schema = detection_schema({"a", "b"}, {96, 160}, capacity, false);
        for (std::size_t f = 0; f < sample.places.size(); ++f) {
            sample.memory[f].assign(sample.schema.fields[f].sample_bytes(), std::byte{0xFF});
            sample.places[f] = {.data = sample.memory[f].data(), .bytes = sample.memory[f].size()};
        }
        write_typical_objects(sample.fields(), sample.schema);
        EXPECT_EQ(sample.count(), capacity.objects);
        for (std::size_t i = 0; i < static_cast<std::size_t>(capacity.objects); ++i) {
            const auto box = sample.box(i);
            EXPECT_TRUE(box[0] >= 0 && box[1] >= 0 && box[2] <= 160 && box[3] <= 96);
            EXPECT_TRUE(box[2] > box[0] && box[3] > box[1]);
            const std::int64_t label = sample.fields().i64(field::labels)[i];
            EXPECT_TRUE(label == 1 || label == 2);
            const bool masked = sample.fields().i64(field::places)[5 * i + 2] > 0;
            EXPECT_EQ(masked, capacity.words > 100);
        }
    }
}

}  // namespace
}  // namespace engine
