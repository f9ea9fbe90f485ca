#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/loader/collator.h"
#include "support/device_support.h"
#include "tasks/task_descriptor.h"

// The parts of a batch that the ranks of a data-parallel run get.
namespace engine {
namespace {

struct Source {
    explicit Source(const RunConfig& config_)
        : config(config_),
          data(open_dataset(config.dataset, config.seed).train),
          task(make_task(config, data.data->schema())) {}
    Batch batch(int rank, int ranks, std::int64_t epoch, std::int64_t index) const {
        LoaderOptions options = test::loader_options(config);
        options.rank = rank;
        options.ranks = ranks;
        Batch out;
        Collator(data, task->schema(true), options).make(out, epoch, index);
        return out;
    }
    RunConfig config;
    DataPart data;
    std::unique_ptr<Task> task;
};

/// For fields whose rows are whole samples: the rows of all ranks, in order, are those of the whole
/// batch.
void expect_same_rows(const Source& source, int ranks, std::int64_t epoch, std::int64_t index) {
    const Batch whole = source.batch(0, 1, epoch, index);
    std::vector<std::vector<std::byte>> joined(whole.fields.size());
    std::int64_t rows = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const Batch part = source.batch(rank, ranks, epoch, index);
        EXPECT_EQ(part.samples, whole.samples);
        EXPECT_EQ(part.share.all, whole.rows());
        EXPECT_EQ(part.last_of_epoch, whole.last_of_epoch);
        EXPECT_EQ(part.rows(), part.share.computed());
        if (part.share.idle()) continue;
        EXPECT_EQ(part.share.first, rows);
        rows += part.rows();
        for (std::size_t f = 0; f < joined.size(); ++f) {
            const auto& bytes = part.fields[f].bytes;
            joined[f].insert(joined[f].end(), bytes.begin(), bytes.end());
        }
    }
    EXPECT_EQ(rows, whole.rows());
    for (std::size_t f = 0; f < joined.size(); ++f)
        EXPECT_THAT(joined[f], testing::ElementsAreArray(whole.fields[f].bytes)) << f;
}

TEST(CollatorShare, PartsOfAugmentedPicturesAreThoseOfTheWholeBatch) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 43;
    config.dataset.augment = true;
    const Source source(config);
    for (const int ranks : {2, 3, 4}) {
        expect_same_rows(source, ranks, 0, 1);
        expect_same_rows(source, ranks, 3, 2);  // the last, of 11
    }
}

TEST(CollatorShare, TextsAreCutByStreams) {
    const Source source(test::small_text_run("fp32"));
    for (const int ranks : {2, 3, 4}) expect_same_rows(source, ranks, 0, 5);
}

TEST(CollatorShare, MasksOfATextAreThoseOfTheWholeBatch) {
    const Source source(test::small_masked_run("fp32"));
    for (const int ranks : {2, 4}) expect_same_rows(source, ranks, 1, 2);
}

TEST(CollatorShare, ARankWithoutRowsGetsTheFirst) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 18;  // the last batch has 2
    const Source source(config);
    const Batch whole = source.batch(0, 1, 0, 1), idle = source.batch(3, 4, 0, 1);
    EXPECT_TRUE(idle.share.idle());
    ASSERT_EQ(idle.rows(), 1);
    EXPECT_EQ(idle.indices[0], whole.indices[0]);
    expect_same_rows(source, 4, 0, 1);
}

}  // namespace
}  // namespace engine
