#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/dataset_descriptor.h"
#include "data/detection/detection_sample.h"
#include "data/detection/detection_truth.h"
#include "data/loader/collator.h"
#include "engine/base/error.h"
#include "support/detection_run.h"
#include "support/device_support.h"
#include "support/ranks.h"
#include "tasks/task_descriptor.h"
#include "temp_folder.h"
#include "tensor/philox.h"

// The task around Mask R-CNN: its fields, figures and results. Its losses: detection_pass_test.cpp.
namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> metric_keys(const RunConfig& config) {
    std::vector<std::string> out;
    for (const Metric& each : metrics_of(config)) out.push_back(each.key);
    return out;
}

struct DetectionTask : testing::Test {
    RunConfig config = test::small_detection_run("fp32");
    DataParts data = open_dataset(config.dataset, config.seed);
    std::unique_ptr<Task> task() const { return make_task(config, data.train.data->schema()); }
    Batch batch(const DataPart& part, std::int64_t rows, std::int64_t epoch, std::int64_t index,
                bool training) const {
        Collator collator(part, task()->schema(training),
                          {.sampler = {.batch_size = rows, .seed = 3, .shuffle = false}});
        Batch out;
        collator.make(out, epoch, index);
        return out;
    }
    static std::vector<std::int64_t> draws(const Batch& batch) {
        const auto values = batch.fields.back().values<std::int64_t>();
        return {values.begin(), values.end()};
    }
};

TEST_F(DetectionTask, LearnsNoMasksOfDataWhoseMasksAreBroken) {
    Schema schema = data.train.data->schema();
    schema.fields[detection_field::bits].problem = "2 of 9 masks are broken";
    try {
        make_task(config, schema);
        ADD_FAILURE() << "made";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_EQ(error.message().str(), "2 of 9 masks are broken");
    }
    config.model.options["masks"] = false;
    EXPECT_NO_THROW(make_task(config, schema));
}

TEST_F(DetectionTask, HasMasksWhereTheModelHas) {
    EXPECT_THAT(metric_keys(config),
                ElementsAre("mask_map", "box_map", "box_map50", "loss_classifier", "loss_box_reg",
                            "loss_mask", "loss_objectness", "loss_rpn_box_reg"));
    config.model.options["masks"] = false;
    EXPECT_THAT(metric_keys(config),
                ElementsAre("box_map", "box_map50", "box_map75", "loss_classifier", "loss_box_reg",
                            "loss_objectness", "loss_rpn_box_reg"));
    config.dataset.kind = "glyphs";
    config.dataset.options.clear();
    EXPECT_THAT(metric_keys(config), testing::IsEmpty());
}

TEST_F(DetectionTask, HasABatchOfItsDataWhereTheSettingsHaveNone) {
    const auto batch_size = [](const std::string& json) {
        return parse_run_config(json).config.batch_size;
    };
    EXPECT_EQ(batch_size("{}"), RunConfig().batch_size);
    EXPECT_EQ(batch_size(R"({"dataset": {"kind": "shapes"}})"), 8);
    EXPECT_EQ(batch_size(R"({"dataset": {"kind": "coco"}})"), 2);
    EXPECT_EQ(batch_size(R"({"dataset": {"kind": "shapes"}, "batch_size": 128})"), 128);
    EXPECT_EQ(parse_run_config("{}", {"dataset.kind=shapes"}).config.batch_size, 8);
}

TEST_F(DetectionTask, DrawsByTheSamplesPlaceAlone) {
    const std::vector<std::int64_t> epoch0 = draws(batch(data.train, 4, 0, 0, true));
    const RandomStream random(3, StreamId::task, 0);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(epoch0[i], static_cast<std::int64_t>(std::uint64_t{random.at(2 * i + 1)} << 32 |
                                                       random.at(2 * i)));
    // Another size of the batches, another epoch, an evaluation.
    EXPECT_THAT(draws(batch(data.train, 2, 0, 1, true)), ElementsAre(epoch0[2], epoch0[3]));
    EXPECT_NE(draws(batch(data.train, 4, 1, 0, true)), epoch0);
    EXPECT_EQ(draws(batch(data.test, 4, 0, 0, false)), draws(batch(data.test, 4, 1, 0, false)));
}

TEST_F(DetectionTask, MatchesDetectionsToTheTruth) {
    config.model.options["masks"] = false;
    const auto made = task();
    const auto results = made->results(data.test);
    const Batch all = batch(data.test, 4, 0, 0, false);
    std::vector<double> rows;
    std::int64_t objects = 0;
    for (const std::int64_t index : all.indices) {
        const auto truth = data.test.data->truth(index);
        for (std::size_t k = 0; k < 8; ++k) {
            if (k >= truth->annotations.size()) {
                rows.insert(rows.end(), 6, 0.0);  // an empty row
                continue;
            }
            const auto& [x, y, w, h] = truth->annotations[k].box;
            rows.insert(rows.end(), {x, y, x + w, y + h, 0.9,
                                     static_cast<double>(truth->annotations[k].label)});
            ++objects;
        }
    }
    results->see(all, Tensor::of(rows, {4, 8, 6}, DType::f32, Device{}));
    std::vector<double> values(7, 7);
    results->derive(values);
    EXPECT_THAT(values, ElementsAre(1, 1, 1, 7, 7, 7, 7));
    const DetectionReport report = *results->detections();
    EXPECT_THAT(report.classes, ElementsAre("square", "disc", "triangle"));
    EXPECT_FALSE(report.masks);
    EXPECT_TRUE(report.errors.empty());
    EXPECT_EQ(report.best.f1, 1);
    std::int64_t truths = 0;
    for (const ClassPrecision& each : report.boxes.classes) truths += each.truths;
    EXPECT_EQ(truths, objects);
    for (const auto& [pair, count] : report.confusions) EXPECT_EQ(pair[0], pair[1]);

    // Half of the pictures on another rank.
    const auto one = made->results(data.test), other = made->results(data.test);
    for (const auto& [part, index] : {std::pair{one.get(), 0}, {other.get(), 1}}) {
        const auto begin = rows.begin() + index * 2 * 8 * 6;
        part->see(batch(data.test, 2, 0, index, false),
                  Tensor::of({begin, begin + 2 * 8 * 6}, {2, 8, 6}, DType::f32, Device{}));
    }
    one->merge(other->packed());
    one->derive(values);
    EXPECT_EQ(values[0], 1);
}

TEST_F(DetectionTask, TakesNoProposalsThatDoNotFit) {
    test::RankRun run(config);
    const std::vector<Batch>& batches = run.make();
    const auto refuses = [&](const TensorList& proposals) {
        auto given = std::make_shared<StepDecisions>();
        given->keep(0, proposals);
        run.trainer.set_decisions(given);
        try {
            run.trainer.step(batches, *run.feed);
            return std::string();
        } catch (const Error& error) {
            return error.message().str();
        }
    };
    const Tensor boxes = Tensor::zeros({2, 5, 4}, DType::f32, Device{});
    const auto counts = [](std::vector<double> values) {
        return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64, Device{});
    };
    EXPECT_EQ(refuses({boxes, counts({5, 0})}), "");
    for (const TensorList& wrong :
         {TensorList{boxes}, TensorList{boxes, counts({6, 0})}, TensorList{boxes, counts({-1, 0})},
          TensorList{boxes, counts({1})},
          TensorList{Tensor::zeros({3, 5, 4}, DType::f32, Device{}), counts({1, 1})},
          TensorList{Tensor::zeros({2, 5, 3}, DType::f32, Device{}), counts({1, 1})}})
        EXPECT_THAT(refuses(wrong), HasSubstr("do not fit the batch"));
}

TEST_F(DetectionTask, NeedsMasksToLearnMasks) {
    Schema plain = data.train.data->schema();
    plain.fields[detection_field::bits].cardinality = 1;
    EXPECT_THROW(make_task(config, plain), Error);
    config.model.options["masks"] = false;
    EXPECT_NO_THROW(make_task(config, plain));
}

}  // namespace
}  // namespace engine
