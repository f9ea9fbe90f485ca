#include "data/loader/collator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "ramp_dataset.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::RampDataset;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

const Shape colour_image{3, 12, 10};

/// Batch `index` of an epoch of 20 images, unchanged.
Batch make(const SamplerOptions& sampler, std::int64_t epoch = 0, std::int64_t index = 0) {
    const auto data = std::make_shared<RampDataset>(20, colour_image);
    Collator collator({data}, data->schema(), {.sampler = sampler});
    Batch batch;
    collator.make(batch, epoch, index);
    return batch;
}

TEST(Collator, LaysSamplesOutOneAfterAnotherInHwcOrder) {
    const Batch batch = make({.batch_size = 8, .shuffle = false}, 0, 2);
    ASSERT_EQ(batch.rows(), 4);
    EXPECT_EQ(batch.samples, 4);
    EXPECT_TRUE(batch.last_of_epoch);
    EXPECT_EQ(batch.index_in_epoch, 2);
    EXPECT_EQ(batch.position, 16);
    ASSERT_EQ(batch.fields.size(), 2U);
    EXPECT_EQ(batch.fields[0].shape, (Shape{4, 3, 12, 10}));
    EXPECT_EQ(batch.fields[0].dtype, DType::f32);
    EXPECT_EQ(batch.fields[1].shape, (Shape{4}));
    EXPECT_EQ(batch.fields[1].dtype, DType::i64);
    for (std::int64_t i = 0; i < 4; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(batch.indices[at], 16 + i);
        EXPECT_EQ(batch.fields[1].values<std::int64_t>()[at], (16 + i) % 7);
        for (std::int64_t e = 0; e < 360; ++e) {
            ASSERT_EQ(batch.fields[0].values<float>()[at * 360 + static_cast<std::size_t>(e)],
                      RampDataset::value(16 + i, e));
        }
    }
}

TEST(Collator, StartsFieldsOnACacheLine) {
    const Batch batch = make({.batch_size = 7});
    for (const BatchField& field : batch.fields)
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(field.bytes.data()) % 64, 0U);
}

TEST(Collator, CallsABatchFullThatIsAsLargeAsTheOthers) {
    EXPECT_TRUE(make({.batch_size = 8}, 0, 0).full);
    EXPECT_TRUE(make({.batch_size = 8}, 3, 1).full);
    EXPECT_FALSE(make({.batch_size = 8}, 3, 2).full);
    EXPECT_TRUE(make({.batch_size = 10}, 0, 1).full);
}

/// Damaged samples as a folder of pictures has them.
class DamagedRamp final : public Dataset {
public:
    DamagedRamp(std::set<std::int64_t> damaged, bool skips)
        : damaged_(std::move(damaged)), skips_(skips) {}

    std::int64_t size() const override { return ramp_.size(); }
    const Schema& schema() const override { return ramp_.schema(); }
    bool decodes() const override { return true; }
    bool skips_damaged() const override { return skips_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        if (damaged_.contains(index))
            throw DamagedSample(ErrorCode::data, Message(std::to_string(index)));
        ramp_.read(index, out);
    }

private:
    RampDataset ramp_{20, colour_image};
    std::set<std::int64_t> damaged_;
    bool skips_;
};

TEST(Collator, PutsTheNextSampleOfTheOrderInThePlaceOfADamagedOne) {
    const SamplerOptions sampler{.batch_size = 8, .shuffle = true};
    const auto sound = std::make_shared<DamagedRamp>(std::set<std::int64_t>{}, true);
    std::vector<std::int64_t> order;
    Batch batch;
    Collator whole({sound}, sound->schema(), {.sampler = sampler});
    for (std::int64_t i = 0; i < 3; ++i) {
        whole.make(batch, 2, i);
        order.insert(order.end(), batch.indices.begin(), batch.indices.end());
        EXPECT_THAT(batch.replaced, IsEmpty());
    }
    ASSERT_EQ(order.size(), 20U);
    // Two in a row, the last of a batch and the last of the epoch.
    const std::set<std::int64_t> damaged{order[3], order[4], order[7], order[19]};
    std::vector<std::int64_t> expected = order;
    expected[3] = expected[4] = order[5];
    expected[7] = order[8];
    expected[19] = order[0];
    for (const int ranks : {1, 3}) {
        std::vector<std::int64_t> got;
        std::multiset<std::int64_t> told;
        for (std::int64_t i = 0; i < 3; ++i) {
            for (int rank = 0; rank < ranks; ++rank) {
                const auto data = std::make_shared<DamagedRamp>(damaged, true);
                Collator collator({data}, data->schema(),
                                  {.sampler = sampler, .threads = 3, .rank = rank, .ranks = ranks});
                collator.make(batch, 2, i);
                for (std::size_t row = 0; row < batch.indices.size(); ++row)
                    EXPECT_EQ(batch.fields[1].values<std::int64_t>()[row], batch.indices[row] % 7);
                got.insert(got.end(), batch.indices.begin(), batch.indices.end());
                for (const ReplacedSample& each : batch.replaced) {
                    EXPECT_EQ(each.why.str(), std::to_string(each.index));
                    told.insert(each.index);
                }
            }
        }
        EXPECT_EQ(got, expected) << ranks;
        EXPECT_EQ(told, (std::multiset<std::int64_t>(damaged.begin(), damaged.end()))) << ranks;
    }
}

TEST(Collator, LeavesDamagedSamplesOutWhereNoneMayCountTwice) {
    // Two in a row, the last of a batch, and all of the last batch.
    const std::set<std::int64_t> damaged{0, 1, 7, 16, 17, 18, 19};
    const std::vector<std::vector<std::int64_t>> expected{
        {2, 3, 4, 5, 6}, {8, 9, 10, 11, 12, 13, 14, 15}, {}};
    const auto sound = std::make_shared<DamagedRamp>(std::set<std::int64_t>{}, true);
    const auto data = std::make_shared<DamagedRamp>(damaged, true);
    const SamplerOptions sampler{.batch_size = 8, .shuffle = false};
    Batch whole, batch;
    for (const int ranks : {1, 2, 5}) {
        std::multiset<std::int64_t> told;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            std::vector<std::int64_t> got;
            for (int rank = 0; rank < ranks; ++rank) {
                Collator collator({data}, data->schema(),
                                  {.sampler = sampler,
                                   .threads = 3,
                                   .leave_out_damaged = true,
                                   .rank = rank,
                                   .ranks = ranks});
                collator.make(batch, 0, static_cast<std::int64_t>(i));
                if (batch.share.idle()) continue;  // its row is another rank's, too
                EXPECT_EQ(batch.fields[0].shape[0], batch.rows());
                EXPECT_EQ(batch.share.computed(), std::max<std::int64_t>(batch.rows(), 1));
                Collator alone({sound}, sound->schema(),
                               {.sampler = {.batch_size = 1, .shuffle = false}});
                for (std::size_t row = 0; row < batch.indices.size(); ++row) {
                    alone.make(whole, 0, batch.indices[row]);
                    const std::size_t bytes = whole.fields[0].bytes.size();
                    EXPECT_TRUE(std::equal(whole.fields[0].bytes.begin(),
                                           whole.fields[0].bytes.end(),
                                           batch.fields[0].bytes.begin() +
                                               static_cast<std::ptrdiff_t>(row * bytes)))
                        << batch.indices[row];
                    EXPECT_EQ(batch.fields[1].values<std::int64_t>()[row], batch.indices[row] % 7);
                }
                got.insert(got.end(), batch.indices.begin(), batch.indices.end());
                for (const ReplacedSample& each : batch.replaced) told.insert(each.index);
                EXPECT_EQ(batch.full, batch.replaced.empty() && i < 2);
            }
            EXPECT_EQ(got, expected[i]) << ranks;
        }
        EXPECT_EQ(told, (std::multiset<std::int64_t>(damaged.begin(), damaged.end()))) << ranks;
    }
}

TEST(Collator, PassesADamagedSampleOnUnlessTheyAreSkippedAndOneIsSound) {
    std::set<std::int64_t> all;
    for (std::int64_t i = 0; i < 20; ++i) all.insert(i);
    for (const auto& data : {std::make_shared<DamagedRamp>(std::set<std::int64_t>{5}, false),
                             std::make_shared<DamagedRamp>(all, true)}) {
        Collator collator({data}, data->schema(), {.sampler = {.batch_size = 20}});
        Batch batch;
        EXPECT_THROW(collator.make(batch, 0, 0), DamagedSample);
    }
}

TEST(Collator, LeavesTheFieldsOutWhereTheDeviceHasTheData) {
    const auto data = std::make_shared<RampDataset>(20, colour_image);
    data->fail_at(3);
    Collator collator({data}, data->schema(),
                      {.sampler = {.batch_size = 8, .shuffle = false}, .indices_only = true});
    Batch batch;
    collator.make(batch, 0, 0);
    EXPECT_THAT(batch.fields, IsEmpty());
    EXPECT_THAT(batch.indices, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(batch.samples, 8);
}

TEST(Collator, CountsTheBytesOfAFullBatch) {
    const auto data = std::make_shared<RampDataset>(20, colour_image);
    const Collator collator({data}, data->schema(), {.sampler = {.batch_size = 8}});
    EXPECT_EQ(collator.batch_bytes(), 8U * (360 * 4 + 8));
}

TEST(Collator, ReadsTheSamplesOfAPart) {
    const auto data = std::make_shared<RampDataset>(20, Shape{2});
    const auto rows =
        std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{3, 9, 17});
    Collator collator({data, rows}, data->schema(), {.sampler = {.shuffle = false}});
    Batch batch;
    collator.make(batch, 0, 0);
    EXPECT_THAT(batch.indices, ElementsAre(3, 9, 17));
    EXPECT_THAT(batch.fields[1].values<std::int64_t>(), ElementsAre(3, 2, 3));
    EXPECT_EQ(batch.fields[0].values<float>()[2], RampDataset::value(9, 0));
}

/// Writes the sample's place in the run and its label to an f32 field of size 4.
class Stamp final : public SampleTransform {
public:
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override {
        const auto out = sample.f32(field);
        out[0] = static_cast<float>(place.seed);
        out[1] = static_cast<float>(place.epoch);
        out[2] = static_cast<float>(place.position);
        out[3] = static_cast<float>(sample.i64(1)[0]);
    }
};

Schema with_stamp(Schema schema) {
    schema.add({.name = "stamp", .shape = {4}, .transforms = {std::make_shared<Stamp>()}});
    return schema;
}

TEST(Collator, FillsFieldsThatATaskAddedByTheirTransforms) {
    const auto data = std::make_shared<RampDataset>(20, Shape{2});
    Collator collator({data}, with_stamp(data->schema()),
                      {.sampler = {.batch_size = 3, .seed = 5, .shuffle = false}});
    Batch batch;
    collator.make(batch, 7, 2);
    ASSERT_EQ(batch.fields.size(), 3U);
    EXPECT_EQ(batch.fields[2].shape, (Shape{3, 4}));
    EXPECT_THAT(batch.fields[2].values<float>(),
                ElementsAre(5, 7, 6, 6, /**/ 5, 7, 7, 0, /**/ 5, 7, 8, 1));
}

TEST(Collator, PlacesASampleByItsPositionInTheEpochWhateverTheBatchSize) {
    const auto data = std::make_shared<RampDataset>(20, Shape{2});
    const auto stamps = [&](std::int64_t batch_size, std::int64_t index) {
        Collator collator({data}, with_stamp(data->schema()),
                          {.sampler = {.batch_size = batch_size}});
        Batch batch;
        collator.make(batch, 1, index);
        const auto values = batch.fields[2].values<float>();
        return std::vector<float>(values.begin(), values.end());
    };
    const std::vector<float> large = stamps(20, 0);
    EXPECT_THAT(stamps(5, 3), ElementsAreArray(large.begin() + 15 * 4, large.end()));
}

/// Adds a constant to an f32 field.
class Shift final : public SampleTransform {
public:
    Shift(float factor, float offset) : factor_(factor), offset_(offset) {}
    void apply(const SampleFields& sample, std::size_t field, const SamplePlace&) const override {
        for (float& value : sample.f32(field)) value = factor_ * value + offset_;
    }

private:
    float factor_, offset_;
};

TEST(Collator, AppliesTransformsInTheirOrder) {
    const auto data = std::make_shared<RampDataset>(20, Shape{2});
    Schema schema = data->schema();
    schema.fields[0].transforms = {std::make_shared<Shift>(0.0F, 3.0F),
                                   std::make_shared<Shift>(2.0F, 1.0F)};
    Collator collator({data}, schema, {.sampler = {.batch_size = 2}});
    Batch batch;
    collator.make(batch, 0, 0);
    EXPECT_THAT(batch.fields[0].values<float>(), Each(7));
}

/// A text whose token i is i, with targets.
class CountingText final : public Dataset {
public:
    explicit CountingText(std::int64_t size) : size_(size) {
        for (const char* name : {"tokens", "target"})
            schema_.add({.name = name,
                         .kind = FieldKind::tokens,
                         .dtype = DType::i64,
                         .shape = {1},
                         .windowed = true});
    }
    std::int64_t size() const override { return size_; }
    const Schema& schema() const override { return schema_; }
    bool is_stream() const override { return true; }
    void read(std::int64_t index, const SampleFields& out) const override {
        for (std::size_t f = 0; f < 2; ++f) {
            std::int64_t token = index + static_cast<std::int64_t>(f);
            for (std::int64_t& value : out.i64(f)) value = token++;
        }
    }

private:
    std::int64_t size_;
    Schema schema_;
};

TEST(Collator, CutsWindowsOutOfATextTheLastOfThemShorter) {
    // Four streams of 6 tokens.
    const auto data = std::make_shared<CountingText>(26);
    Collator collator({data}, data->schema(), {.sampler = {.batch_size = 4, .window = 2}});
    ASSERT_EQ(collator.batches_per_epoch(), 3);
    EXPECT_EQ(collator.batch_bytes(), 2U * 4 * 2 * 8);
    Batch batch;
    for (const std::int64_t epoch : {0, 1}) {
        collator.make(batch, epoch, 1);
        EXPECT_EQ(batch.fields[0].shape, (Shape{4, 2}));
        EXPECT_THAT(batch.indices, ElementsAre(2, 8, 14, 20));
        EXPECT_THAT(batch.fields[0].values<std::int64_t>(),
                    ElementsAre(2, 3, 8, 9, 14, 15, 20, 21));
        EXPECT_THAT(batch.fields[1].values<std::int64_t>(),
                    ElementsAre(3, 4, 9, 10, 15, 16, 21, 22));
        EXPECT_EQ(batch.rows(), 4);
        EXPECT_EQ(batch.samples, 8);
        EXPECT_EQ(batch.position, 8);
        EXPECT_TRUE(batch.full);
        EXPECT_FALSE(batch.last_of_epoch);
        collator.make(batch, epoch, 2);
        EXPECT_EQ(batch.fields[0].shape, (Shape{4, 1}));
        EXPECT_THAT(batch.fields[0].values<std::int64_t>(), ElementsAre(4, 10, 16, 22));
        EXPECT_THAT(batch.fields[1].values<std::int64_t>(), ElementsAre(5, 11, 17, 23));
        EXPECT_EQ(batch.samples, 4);
        EXPECT_EQ(batch.position, 16);
        EXPECT_FALSE(batch.full);
        EXPECT_TRUE(batch.last_of_epoch);
    }
}

/// Writes the position to a windowed field.
class Position final : public SampleTransform {
public:
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override {
        std::ranges::fill(sample.i64(field), static_cast<std::int64_t>(place.position));
    }
};

TEST(Collator, PlacesEachWindowOfATextBehindTheTokensBeforeIt) {
    const auto data = std::make_shared<CountingText>(26);
    Schema schema = data->schema();
    schema.add({.name = "position",
                .dtype = DType::i64,
                .shape = {1},
                .windowed = true,
                .transforms = {std::make_shared<Position>()}});
    Collator collator({data}, schema, {.sampler = {.batch_size = 4, .window = 2}});
    Batch batch;
    collator.make(batch, 0, 1);
    EXPECT_THAT(batch.fields[2].values<std::int64_t>(), ElementsAre(8, 8, 10, 10, 12, 12, 14, 14));
    collator.make(batch, 0, 2);
    EXPECT_THAT(batch.fields[2].values<std::int64_t>(), ElementsAre(16, 17, 18, 19));
}

}  // namespace
}  // namespace engine
