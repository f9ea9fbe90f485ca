#include "data/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "engine/base/error.h"
#include "support/expectations.h"

namespace engine {
namespace {

using ::testing::ElementsAre;

TEST(Schema, AddsTheMaskOrTheOffsetsBehindARaggedField) {
    Schema schema;
    EXPECT_EQ(schema.add({.name = "label", .kind = FieldKind::label, .dtype = DType::i64}), 0U);
    EXPECT_EQ(schema.add({.name = "boxes", .shape = {5, 4}, .ragged = Ragged::masked}), 1U);
    EXPECT_EQ(schema.add({.name = "words",
                          .kind = FieldKind::indices,
                          .dtype = DType::i64,
                          .shape = {9},
                          .ragged = Ragged::packed}),
              3U);
    ASSERT_EQ(schema.fields.size(), 5U);
    const FieldSpec& mask = schema.fields[2];
    EXPECT_EQ(mask.name, "boxes.mask");
    EXPECT_EQ(mask.kind, FieldKind::mask);
    EXPECT_EQ(mask.dtype, DType::boolean);
    EXPECT_EQ(mask.shape, Shape{5});
    EXPECT_EQ(mask.ragged, Ragged::no);
    const FieldSpec& offsets = schema.fields[4];
    EXPECT_EQ(offsets.name, "words.offsets");
    EXPECT_EQ(offsets.kind, FieldKind::offsets);
    EXPECT_EQ(offsets.dtype, DType::i64);
}

TEST(Schema, RefusesRaggedFieldsWhoseRowsHoldNothing) {
    for (const Ragged ragged : {Ragged::masked, Ragged::packed}) {
        for (const Shape& shape : {Shape{5, 0}, Shape{0, 4}, Shape{0}, Shape{}}) {
            Schema schema;
            EXPECT_THAT(
                message_of(
                    ErrorCode::shape,
                    [&] { schema.add({.name = "boxes", .shape = shape, .ragged = ragged}); }),
                ::testing::HasSubstr("the ragged field boxes needs rows that hold "
                                     "something, not samples of shape " +
                                     to_string(shape)));
            EXPECT_TRUE(schema.fields.empty());
        }
    }
    Schema schema;
    schema.add({.name = "features", .shape = {0}});
    EXPECT_EQ(schema.fields.size(), 1U) << "a field that is not ragged may be empty";
}

TEST(Schema, FindsFieldsByNameAndByKind) {
    const Schema schema = classified_images({3, 4, 5}, {}, {"cat", "dog"});
    EXPECT_EQ(schema.index("label"), 1U);
    EXPECT_EQ(schema["label"].cardinality, 2);
    EXPECT_EQ(schema.find(FieldKind::image), &schema.fields[0]);
    EXPECT_EQ(schema.find(FieldKind::tokens), nullptr);
    try {
        schema.index("target");
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("target"));
    }
}

TEST(Schema, DescribesClassifiedImagesAndFeatures) {
    const Schema images = classified_images({3, 4, 5}, {{1, 2, 3}, {4, 5, 6}}, {"cat", "dog"});
    EXPECT_EQ(images["image"].shape, (Shape{3, 4, 5}));
    EXPECT_EQ(images["image"].sample_bytes(), 240U);
    EXPECT_THAT(images["image"].normalization.deviation, ElementsAre(4, 5, 6));
    EXPECT_EQ(images["label"].kind, FieldKind::label);
    EXPECT_EQ(images["label"].shape, Shape{});
    EXPECT_EQ(images["label"].sample_bytes(), 8U);
    EXPECT_THAT(images["label"].names, ElementsAre("cat", "dog"));
    const Schema features = classified_features({{1, 2, 3}, {4, 5, 6}}, {"a", "b", "c"});
    EXPECT_EQ(features["features"].shape, Shape{3});
    EXPECT_EQ(features["features"].kind, FieldKind::features);
    EXPECT_EQ(features["label"].cardinality, 3);
}

TEST(Schema, GivesTheShapeOfABatch) {
    EXPECT_EQ(batch_shape({.name = "image", .shape = {3, 4, 5}}, 7), (Shape{7, 3, 4, 5}));
    EXPECT_EQ(batch_shape({.name = "label"}, 7), Shape{7});
    EXPECT_EQ(batch_shape({.name = "x", .shape = {5, 4}, .ragged = Ragged::masked}, 7),
              (Shape{7, 5, 4}));
    EXPECT_EQ(batch_shape({.name = "x", .shape = {5, 4}, .ragged = Ragged::packed}, 7),
              (Shape{35, 4}));
    EXPECT_EQ(batch_shape({.name = "x", .shape = {5}, .ragged = Ragged::packed}, 7), Shape{35});
    EXPECT_EQ(batch_shape({.name = "x.offsets", .kind = FieldKind::offsets}, 7), Shape{8});
}

TEST(Schema, NamesEachKindOfField) {
    std::set<std::string> names;
    for (const FieldKind kind : {FieldKind::image, FieldKind::features, FieldKind::tokens,
                                 FieldKind::indices, FieldKind::label, FieldKind::value,
                                 FieldKind::mask, FieldKind::offsets, FieldKind::other})
        names.insert(name(kind));
    EXPECT_EQ(names.size(), 9U);
    EXPECT_TRUE(names.contains("tokens"));
}

TEST(SampleFields, GivesTheMemoryOfEachField) {
    std::array<float, 3> values{};
    std::array<std::int64_t, 2> indices{};
    std::array<SampleFields::Place, 3> places{};
    places[0] = {.data = reinterpret_cast<std::byte*>(values.data()), .bytes = sizeof values};
    places[1] = {.data = reinterpret_cast<std::byte*>(indices.data()), .bytes = sizeof indices};
    const SampleFields sample(places);
    EXPECT_EQ(sample.f32(0).data(), values.data());
    EXPECT_EQ(sample.f32(0).size(), 3U);
    EXPECT_EQ(sample.bytes(0).size(), 12U);
    EXPECT_EQ(sample.i64(1).data(), indices.data());
    EXPECT_EQ(sample.i64(1).size(), 2U);
    EXPECT_TRUE(sample.i64(2).empty());
    EXPECT_EQ(sample.rows(1), 0);
    sample.set_rows(1, 2);
    EXPECT_EQ(sample.rows(1), 2);
    EXPECT_EQ(places[1].rows, 2);
}

}  // namespace
}  // namespace engine
