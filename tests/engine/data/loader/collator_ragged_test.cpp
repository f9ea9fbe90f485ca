// Fields whose rows a sample fills as it likes: masked and packed ones.
#include "data/loader/collator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "support/expectations.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// Sample i has i % 4 rows of boxes (capacity 3, two numbers each) and (i + 1) % 3 indices
/// (capacity 2). Memory beyond them is left uninitialised.
class RaggedDataset final : public Dataset {
public:
    explicit RaggedDataset(Ragged boxes, Ragged indices) {
        schema_.add({.name = "boxes", .shape = {3, 2}, .ragged = boxes});
        schema_.add({.name = "indices",
                     .kind = FieldKind::indices,
                     .dtype = DType::i64,
                     .shape = {2},
                     .cardinality = 1000,
                     .ragged = indices});
        schema_.add({.name = "label", .kind = FieldKind::label, .dtype = DType::i64});
    }

    static std::int64_t boxes(std::int64_t sample) { return sample % 4; }
    static std::int64_t indices(std::int64_t sample) { return (sample + 1) % 3; }
    static float box(std::int64_t sample, std::int64_t element) {
        return static_cast<float>(sample * 100 + element + 1);
    }
    static std::int64_t index(std::int64_t sample, std::int64_t row) {
        return sample * 10 + row + 1;
    }

    std::int64_t size() const override { return 40; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t sample, const SampleFields& out) const override {
        const std::size_t second = schema_.index("indices");
        std::ranges::fill(out.f32(0), -7.0F);
        std::ranges::fill(out.i64(second), -7);
        for (std::int64_t e = 0; e < 2 * boxes(sample); ++e)
            out.f32(0)[static_cast<std::size_t>(e)] = box(sample, e);
        for (std::int64_t row = 0; row < indices(sample); ++row)
            out.i64(second)[static_cast<std::size_t>(row)] = index(sample, row);
        out.set_rows(0, boxes(sample));
        out.set_rows(second, indices(sample));
        out.i64(schema_.index("label"))[0] = sample;
    }

private:
    Schema schema_;
};

/// The expected contents of a batch of a RaggedDataset.
struct Expected {
    explicit Expected(const std::vector<std::int64_t>& samples) {
        for (const std::int64_t sample : samples) {
            for (std::int64_t row = 0; row < 3; ++row) {
                const bool filled = row < RaggedDataset::boxes(sample);
                mask.push_back(filled ? 1 : 0);
                for (std::int64_t e = 2 * row; e < 2 * row + 2; ++e) {
                    masked.push_back(filled ? RaggedDataset::box(sample, e) : 0);
                    if (filled) packed.push_back(RaggedDataset::box(sample, e));
                }
            }
            box_offsets.push_back(box_offsets.back() + RaggedDataset::boxes(sample));
            for (std::int64_t row = 0; row < RaggedDataset::indices(sample); ++row)
                indices.push_back(RaggedDataset::index(sample, row));
            index_offsets.push_back(index_offsets.back() + RaggedDataset::indices(sample));
        }
        packed.resize(masked.size());
        indices.resize(samples.size() * 2);
    }

    std::vector<float> masked, packed;
    std::vector<std::uint8_t> mask;
    std::vector<std::int64_t> indices;
    std::vector<std::int64_t> box_offsets{0}, index_offsets{0};
};

TEST(CollatorRagged, MarksTheRowsOfAMaskedFieldAndZerosTheRest) {
    const auto data = std::make_shared<RaggedDataset>(Ragged::masked, Ragged::packed);
    Collator collator({data}, data->schema(), {.sampler = {.batch_size = 6, .shuffle = false}});
    Batch batch;
    collator.make(batch, 0, 1);
    const Expected expected(batch.indices);
    ASSERT_EQ(batch.fields.size(), 5U);
    EXPECT_EQ(batch.fields[0].shape, (Shape{6, 3, 2}));
    EXPECT_THAT(batch.fields[0].values<float>(), ElementsAreArray(expected.masked));
    EXPECT_EQ(batch.fields[1].shape, (Shape{6, 3}));
    EXPECT_EQ(batch.fields[1].dtype, DType::boolean);
    EXPECT_THAT(batch.fields[1].values<std::uint8_t>(), ElementsAreArray(expected.mask));
    EXPECT_THAT(batch.fields[4].values<std::int64_t>(), ElementsAre(6, 7, 8, 9, 10, 11));
}

TEST(CollatorRagged, PacksTheRowsOfAPackedFieldAndZerosTheRest) {
    const auto data = std::make_shared<RaggedDataset>(Ragged::packed, Ragged::packed);
    Collator collator({data}, data->schema(), {.sampler = {.batch_size = 6, .shuffle = false}});
    Batch batch;
    collator.make(batch, 0, 2);
    const Expected expected(batch.indices);
    ASSERT_EQ(batch.fields.size(), 5U);
    EXPECT_EQ(batch.fields[0].shape, (Shape{18, 2}));
    EXPECT_THAT(batch.fields[0].values<float>(), ElementsAreArray(expected.packed));
    EXPECT_EQ(batch.fields[1].shape, (Shape{7}));
    EXPECT_THAT(batch.fields[1].values<std::int64_t>(), ElementsAreArray(expected.box_offsets));
    EXPECT_EQ(batch.fields[2].shape, (Shape{12}));
    EXPECT_THAT(batch.fields[2].values<std::int64_t>(), ElementsAreArray(expected.indices));
    EXPECT_THAT(batch.fields[3].values<std::int64_t>(), ElementsAreArray(expected.index_offsets));
}

TEST(CollatorRagged, ReusesTheBuffersOfABatchWithOtherRows) {
    for (const Ragged boxes : {Ragged::masked, Ragged::packed}) {
        const auto data = std::make_shared<RaggedDataset>(boxes, Ragged::packed);
        const test_support::TempFolder folder;
        // Batches that are full, nearly empty, empty, longer and shorter than the one before.
        const auto order =
            folder.write("order", "3 7 11 15\n4 8 0 2\n12 20\n23 19 3 7 11 15\n20 20 20\n1\n");
        Collator collator({data}, data->schema(), {.sampler = {.batch_size = 4, .order = order}});
        Batch reused;
        for (std::int64_t index = 0; index < 12; ++index) {
            Batch fresh;
            collator.make(reused, 0, index % 6);
            collator.make(fresh, 0, index % 6);
            const Expected expected(fresh.indices);
            EXPECT_THAT(
                fresh.fields[0].values<float>(),
                ElementsAreArray(boxes == Ragged::masked ? expected.masked : expected.packed));
            ASSERT_EQ(reused.fields.size(), fresh.fields.size());
            for (std::size_t f = 0; f < fresh.fields.size(); ++f) {
                EXPECT_EQ(reused.fields[f].shape, fresh.fields[f].shape);
                EXPECT_EQ(reused.fields[f].bytes, fresh.fields[f].bytes) << f << " of " << index;
            }
        }
    }
}

TEST(CollatorRagged, CountsTheCapacityOfRaggedFieldsInItsBytes) {
    const auto data = std::make_shared<RaggedDataset>(Ragged::masked, Ragged::packed);
    Collator collator({data}, data->schema(), {.sampler = {.batch_size = 4}});
    Batch batch;
    collator.make(batch, 0, 0);
    std::size_t bytes = 0;
    for (const BatchField& field : batch.fields) bytes += field.bytes.size();
    EXPECT_EQ(collator.batch_bytes(), bytes);
}

TEST(CollatorRagged, RefusesASchemaWhoseRaggedRowsWereEmptiedLater) {
    for (const Ragged boxes : {Ragged::masked, Ragged::packed}) {
        const auto data = std::make_shared<RaggedDataset>(boxes, Ragged::packed);
        Schema schema = data->schema();
        schema.fields[0].shape = {3, 0};
        EXPECT_THAT(message_of(ErrorCode::shape,
                               [&] { Collator({data}, schema, {.sampler = {.batch_size = 2}}); }),
                    ::testing::HasSubstr("boxes needs rows that hold something"));
    }
}

}  // namespace
}  // namespace engine
