#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"
#include "data/detection/detection_sample.h"
#include "data/loader/collator.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"

namespace engine {

DatasetDescriptor shapes_descriptor();

namespace {

namespace field = detection_field;

DataParts open(const Options& options = {}, bool augment = false, std::int64_t limit = 0) {
    DatasetConfig config;
    config.options = options;
    config.augment = augment;
    config.train_limit = limit;
    return shapes_descriptor().open(config, 1, {});
}

Batch batch_of(const DataPart& part, bool training, std::int64_t threads, std::int64_t epoch = 0) {
    Schema schema = part.data->schema();
    schema.augmented = training;
    Collator collator(part, schema, {.sampler = {.batch_size = 6}, .threads = threads});
    Batch out;
    collator.make(out, epoch, 1);
    return out;
}

TEST(ShapesDataset, HasTwoThousandScenesToTrainOnAndTwoHundredToTest) {
    const DataParts parts = open();
    EXPECT_EQ(parts.train.size(), 2000);
    EXPECT_EQ(parts.test.size(), 200);
    EXPECT_EQ(parts.train.data->schema()["labels"].names,
              (std::vector<std::string>{"square", "disc", "triangle"}));
    EXPECT_EQ(open({}, false, 10).train.size(), 10);
}

TEST(ShapesDataset, BatchesAreTheSameOnAnyNumberOfThreads) {
    const DataParts parts = open({{"color_jitter", 0.4}}, /*augment=*/true);
    const Batch one = batch_of(parts.train, true, 1), four = batch_of(parts.train, true, 4);
    for (std::size_t f = 0; f < one.fields.size(); ++f)
        EXPECT_EQ(one.fields[f].bytes, four.fields[f].bytes) << f;
    EXPECT_EQ(one.fields[field::image].shape, (Shape{6, 3, 128, 128}));
    EXPECT_NE(one.fields[field::image].bytes,
              batch_of(parts.train, true, 1, 1).fields[field::image].bytes)
        << "another epoch";
}

TEST(ShapesDataset, TellsTheTruthOfItsSamples) {
    const DataParts parts = open({{"image_size", std::int64_t{64}}});
    const Batch batch = batch_of(parts.test, false, 1);
    const auto boxes = batch.fields[field::boxes].values<float>();
    const auto labels = batch.fields[field::labels].values<std::int64_t>();
    for (std::size_t row = 0; row < 6; ++row) {
        const auto truth = parts.test.data->truth(batch.indices[row]);
        ASSERT_NE(truth, nullptr);
        EXPECT_EQ(std::get<std::int64_t>(truth->image_id), batch.indices[row] + 1);
        for (std::size_t i = 0; i < 4; ++i) {
            const bool there = i < truth->annotations.size();
            EXPECT_EQ(labels[row * 4 + i], there ? truth->annotations[i].label : 0);
            if (!there) continue;
            const auto& [x, y, w, h] = truth->annotations[i].box;
            const auto corners = boxes.subspan((row * 4 + i) * 4, 4);
            EXPECT_THAT(std::vector<double>(corners.begin(), corners.end()),
                        testing::ElementsAre(x, y, x + w, y + h));
        }
    }
}

TEST(ShapesDataset, RefusesSettingsThatItDoesNotHave) {
    DatasetConfig config;
    config.normalize = false;
    EXPECT_THROW((void)shapes_descriptor().open(config, 1, {}), Error);
    EXPECT_THROW((void)open({{"image_size", std::int64_t{100}}}), Error);
}

TEST(ShapesDataset, TrainingAndTestSceneOfOneNumberDiffer) {
    const DataParts parts = open();
    EXPECT_NE(parts.train.data->truth(3)->annotations.front().area,
              parts.test.data->truth(3)->annotations.front().area);
}

}  // namespace
}  // namespace engine
