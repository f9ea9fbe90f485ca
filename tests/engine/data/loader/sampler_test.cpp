#include "data/loader/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "ramp_dataset.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::RampDataset;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Samples 10, 13, 16, ... of a data set of 40.
DataPart every_third(std::int64_t count) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(10 + 3 * i);
    return {std::make_shared<RampDataset>(40, Shape{2}),
            std::make_shared<const std::vector<std::int64_t>>(std::move(rows))};
}

/// A stream of this many tokens.
class Tokens final : public Dataset {
public:
    explicit Tokens(std::int64_t size) : size_(size) {}
    std::int64_t size() const override { return size_; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t, const SampleFields&) const override {}
    bool is_stream() const override { return true; }

private:
    std::int64_t size_;
    Schema schema_;
};

DataPart tokens(std::int64_t size) { return {std::make_shared<Tokens>(size)}; }

TEST(Sampler, NamesSamplesOfTheDataSetThatAPartIsOf) {
    const auto sampler = make_sampler(every_third(7), {.batch_size = 3, .shuffle = false});
    ASSERT_EQ(sampler->batches_per_epoch(), 3);
    EXPECT_THAT(sampler->plan(0, 0).indices, ElementsAre(10, 13, 16));
    const BatchPlan last = sampler->plan(4, 2);
    EXPECT_THAT(last.indices, ElementsAre(28));
    EXPECT_EQ(last.position, 6);
    EXPECT_EQ(last.window, 1);
    EXPECT_FALSE(last.full);
    EXPECT_TRUE(sampler->plan(0, 1).full);
}

TEST(Sampler, ShufflesAPartAsItShufflesADataSetOfItsSize) {
    const auto of_part = make_sampler(every_third(7), {.batch_size = 7, .seed = 5});
    const auto whole =
        make_sampler({std::make_shared<RampDataset>(7, Shape{2})}, {.batch_size = 7, .seed = 5});
    const auto mapped = of_part->plan(2, 0).indices;
    EXPECT_THAT(mapped, UnorderedElementsAre(10, 13, 16, 19, 22, 25, 28));
    const auto direct = whole->plan(2, 0).indices;
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(mapped[i], 10 + 3 * direct[i]);
}

TEST(Sampler, DropsALastBatchThatIsNotFull) {
    const auto sampler = make_sampler(every_third(7), {.batch_size = 3, .drop_last = true});
    EXPECT_EQ(sampler->batches_per_epoch(), 2);
}

/// Sample i is of group i % 5 % 3, so groups 0 and 1 are twice as large as group 2.
class Shaped final : public Dataset {
public:
    std::int64_t size() const override { return 53; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t, const SampleFields&) const override {}
    std::uint8_t shape_group(std::int64_t index) const override {
        return static_cast<std::uint8_t>(index % 5 % 3);
    }

private:
    Schema schema_;
};

TEST(Sampler, BatchesHoldSamplesOfOneGroupAndEachSampleComesOnce) {
    const DataPart part{std::make_shared<Shaped>()};
    const auto group = [&](std::int64_t index) { return part.data->shape_group(index); };
    const auto sampler = make_sampler(part, {.batch_size = 4, .seed = 9});
    ASSERT_EQ(sampler->batches_per_epoch(), 14);
    std::vector<std::vector<std::int64_t>> first_epoch;
    for (const std::int64_t epoch : {0, 1}) {
        std::vector<std::int64_t> all;
        int mixed = 0;
        for (std::int64_t i = 0; i < 14; ++i) {
            const BatchPlan plan = sampler->plan(epoch, i);
            EXPECT_EQ(plan.position, std::ssize(all));
            const bool alike = std::ranges::all_of(plan.indices, [&](std::int64_t index) {
                return group(index) == group(plan.indices.front());
            });
            mixed += alike ? 0 : 1;
            // At most three samples of each of three groups fill no batch of their own.
            EXPECT_TRUE(alike || i >= 14 - 3) << "the rest comes last";
            all.insert(all.end(), plan.indices.begin(), plan.indices.end());
            for (std::size_t k = 0; k < plan.indices.size(); ++k)
                EXPECT_EQ(sampler->sample_at(plan.position + static_cast<std::int64_t>(k)),
                          plan.indices[k]);
            if (epoch == 0) first_epoch.emplace_back(plan.indices.begin(), plan.indices.end());
        }
        EXPECT_GT(mixed, 0) << "53 samples leave a rest in each group";
        std::ranges::sort(all);
        for (std::int64_t i = 0; i < 53; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
    }
    // Any batch can be made again, alone and in any order.
    const auto again = make_sampler(part, {.batch_size = 4, .seed = 9});
    again->plan(7, 3);
    for (const std::size_t i : {std::size_t{11}, std::size_t{2}})
        EXPECT_TRUE(std::ranges::equal(again->plan(0, static_cast<std::int64_t>(i)).indices,
                                       first_epoch[i]));
    const auto in_order = make_sampler(part, {.batch_size = 4, .shuffle = false});
    EXPECT_THAT(in_order->plan(0, 0).indices, ElementsAre(0, 1, 2, 3)) << "an evaluation";
}

TEST(Sampler, RefusesAPartWithoutABatch) {
    for (const SamplerOptions& options :
         {SamplerOptions{.batch_size = 8, .drop_last = true}, SamplerOptions{.batch_size = 8}}) {
        try {
            make_sampler(every_third(options.drop_last ? 7 : 0), options);
            FAIL() << "not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_THAT(error.what(), HasSubstr("samples do not fill one batch"));
        }
    }
}

TEST(Sampler, FollowsAnOrderFileThatNamesSamplesOfTheDataSet) {
    const TempFolder folder;
    const auto order = folder.write("order", "39 0 1\n10 13\n");
    // The part's rows include neither 39, nor 0, nor 1.
    const auto sampler = make_sampler(every_third(7), {.batch_size = 3, .order = order});
    ASSERT_EQ(sampler->batches_per_epoch(), 2);
    for (const std::int64_t epoch : {0, 5}) {
        EXPECT_THAT(sampler->plan(epoch, 0).indices, ElementsAre(39, 0, 1));
        EXPECT_THAT(sampler->plan(epoch, 1).indices, ElementsAre(10, 13));
    }
    EXPECT_EQ(sampler->plan(0, 1).position, 3);
}

TEST(Sampler, RefusesAnOrderFileThatNamesSamplesBeyondTheDataSet) {
    const TempFolder folder;
    const auto order = folder.write("order", "39\n40\n");
    try {
        make_sampler(every_third(7), {.order = order});
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.what(), HasSubstr("line 2: sample 40 is outside 0 to 39"));
    }
}

TEST(Sampler, CutsATextIntoStreamsAndWindows) {
    const auto sampler = make_sampler(tokens(26), {.batch_size = 4, .window = 2});
    ASSERT_EQ(sampler->batches_per_epoch(), 3);
    for (const std::int64_t epoch : {0, 3}) {
        const BatchPlan second = sampler->plan(epoch, 1);
        EXPECT_THAT(second.indices, ElementsAre(2, 8, 14, 20));
        EXPECT_EQ(second.window, 2);
        EXPECT_EQ(second.position, 8);
        EXPECT_TRUE(second.full);
        const BatchPlan last = sampler->plan(epoch, 2);
        EXPECT_THAT(last.indices, ElementsAre(4, 10, 16, 22));
        EXPECT_EQ(last.window, 1);
        EXPECT_EQ(last.position, 16);
        EXPECT_FALSE(last.full);
    }
}

TEST(Sampler, CallsTheLastWindowFullThatIsAsLongAsTheOthers) {
    const auto sampler = make_sampler(tokens(20), {.batch_size = 4, .window = 2});
    ASSERT_EQ(sampler->batches_per_epoch(), 2);
    EXPECT_TRUE(sampler->plan(0, 1).full);
}

TEST(Sampler, RefusesATextThatIsTooShortForItsStreams) {
    try {
        make_sampler(tokens(7), {.batch_size = 4});
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), HasSubstr("batch_size: 4: the text has 7 tokens"));
    }
}

TEST(Sampler, RefusesAnOrderFileForAText) {
    const TempFolder folder;
    try {
        make_sampler(tokens(100), {.batch_size = 4, .order = folder.write("order", "1 2\n")});
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), HasSubstr("dataset.order: "));
        EXPECT_FALSE(error.hint().empty());
    }
}

}  // namespace
}  // namespace engine
