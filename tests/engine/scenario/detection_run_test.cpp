#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/network/network.h"
#include "engine/settings/catalog.h"
#include "engine/train/data_parallel.h"
#include "engine/train/trained_model.h"
#include "resume_support.h"
#include "support/detection_run.h"
#include "support/ranks.h"
#include "train/run/step_capsule.h"

// Mask R-CNN through whole runs: evaluation, resume, ranks, capsules, predictions.
namespace engine {
namespace {

using testing::ElementsAre;

struct DetectionRun : test::ResumedRuns {
    static RunConfig changed(const std::vector<std::string>& overrides,
                             const std::string& precision = "fp32") {
        const ParsedConfig parsed =
            parse_run_config(to_json(test::small_detection_run(precision)), overrides);
        EXPECT_THAT(parsed.errors, testing::IsEmpty());
        return parsed.config;
    }
    /// For a run that nobody resumes: a checkpoint has 150 MB.
    static RunConfig unsaved(std::vector<std::string> overrides,
                             const std::string& precision = "fp32") {
        overrides.insert(overrides.end(), {"checkpoint.best=false", "checkpoint.at_end=false"});
        return changed(overrides, precision);
    }
    /// An epoch that leaves the weights as they are.
    const std::vector<std::string> still_{"optimizer.kind=sgd", "optimizer.lr=1e-30",
                                          "optimizer.weight_decay=0", "epochs=1",
                                          "model.options.norm=frozen"};
};

TEST_F(DetectionRun, EvaluatesMasksAndBoxesWithinEpochs) {
    const test::Ended run = train(unsaved({"evaluation.every_steps=3"}));
    std::vector<std::int64_t> steps;
    for (const EpochDone& each : run.all<EpochDone>()) {
        steps.push_back(each.step);
        for (const char* key : {"mask_map", "box_map", "box_map50"}) {
            EXPECT_TRUE(each.test.of(key) >= 0 && each.test.of(key) <= 1) << key;
            EXPECT_TRUE(std::isnan(each.train.of(key))) << "training finds nothing";
        }
        double sum = 0;
        for (const char* key : {"loss_classifier", "loss_box_reg", "loss_mask", "loss_objectness",
                                "loss_rpn_box_reg"})
            sum += each.test.of(key);
        EXPECT_NEAR(sum, each.test.loss, 1e-5 * sum);
    }
    EXPECT_THAT(steps, ElementsAre(3, 4, 6, 8));
    const StepRecord row = run.record.row(0);
    EXPECT_TRUE(std::isnan(row.*metric_columns[0]));
    EXPECT_GT(row.*metric_columns[3], 0) << "the classifier's loss";
}

TEST_F(DetectionRun, OfTheSameWeightsEvaluatesToTheSameBits) {
    std::vector<std::string> overrides = still_;
    overrides.emplace_back("evaluation.every_steps=1");
    const auto all = train(unsaved(overrides)).all<EpochDone>();
    ASSERT_EQ(all.size(), 4u);
    for (const EpochDone& each : all) {
        EXPECT_EQ(each.test.loss, all[0].test.loss);
        EXPECT_EQ(each.test.of("loss_mask"), all[0].test.of("loss_mask"));
    }
}

TEST_F(DetectionRun, GoesOnWithTheSameBits) {
    const RunConfig config = changed({"dataset.augment=true", "checkpoint.best=false"}, "amp-fp16");
    const test::Ended whole = train(config);
    expect_same_end(whole, resume(train_to(config, 3)));
}

TEST_F(DetectionRun, AccumulatesAsOneBatchOfItsParts) {
    // The losses of a micro-batch are means of its own, so the step's loss is their mean.
    std::vector<std::string> overrides = still_;
    const test::Ended parts = train(unsaved(overrides));
    overrides.emplace_back("accumulate=2");
    const test::Ended run = train(unsaved(overrides));
    ASSERT_EQ(parts.record.size(), 4);
    ASSERT_EQ(run.record.size(), 2);
    for (std::int64_t i = 0; i < run.record.size(); ++i) {
        const double mean = (parts.record.row(2 * i).loss + parts.record.row(2 * i + 1).loss) / 2;
        EXPECT_NEAR(run.record.row(i).loss, mean, 1e-5 * mean);
    }
}

TEST_F(DetectionRun, OfTwoRanksIsThatOfTheirPartsAccumulated) {
    RunConfig config = unsaved({"model.options.norm=frozen", "max_steps=2"});
    config.batch_size = 2;
    config.workers = 2;
    test::Ended two;
    test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
        SessionOptions options;
        options.communicator = line;
        if (line->rank() == 0)
            two = train(config, options);
        else
            follow_run(config, options);
    });
    config.workers = 1;
    config.batch_size = 1;
    config.accumulate = 2;
    const test::Ended one = train(config);
    ASSERT_EQ(two.record.size(), one.record.size());
    for (std::int64_t i = 0; i < one.record.size(); ++i)
        EXPECT_NEAR(two.record.row(i).loss, one.record.row(i).loss, 1e-5 * one.record.row(i).loss);
    const auto figures = [](const test::Ended& run) { return run.all<EpochDone>().back().test; };
    EXPECT_NEAR(figures(two).of("box_map"), figures(one).of("box_map"), 1e-3);
    EXPECT_NEAR(figures(two).of("mask_map"), figures(one).of("mask_map"), 1e-3);
}

TEST_F(DetectionRun, EveryPresetTrainsFiniteSteps) {
    for (const PrecisionDescriptor& preset : precisions()) {
        if (preset.settings.tf32) continue;
        const test::Ended run = train(unsaved({"max_steps=5", "evaluation.every_epochs=0"}, preset.kind));
        EXPECT_EQ(run.record.size(), 5) << preset.kind;
        std::int64_t finite = 0;
        for (std::int64_t i = 0; i < run.record.size(); ++i)
            finite += std::isfinite(run.record.row(i).loss);
        EXPECT_EQ(finite, 5) << preset.kind;
    }
}

TEST_F(DetectionRun, RecomputedBlocksHaveTheSameBits) {
    EXPECT_EQ(train(unsaved({"max_steps=2"})).figures,
              train(unsaved({"max_steps=2", "recompute=blocks"})).figures);
}

TEST_F(DetectionRun, OnATextIsThatOfTheBuiltInBody) {
    const std::vector<std::string> same{"max_steps=2", "evaluation.every_epochs=0"};
    std::vector<std::string> text = same;
    std::ofstream(folder_ / "body.network") << network_template("resnet18");
    text.insert(text.end(), {"model.kind=maskrcnn-file", "model.options.stem=imagenet",
                             "model.path=" + (folder_ / "body.network").string()});
    EXPECT_EQ(train(unsaved(text)).figures, train(unsaved(same)).figures);
}

TEST_F(DetectionRun, ACapsuleTakesTheProposalsOfTheStep) {
    const RunConfig config = test::small_detection_run("amp-fp16");
    test::RankRun run(config);
    const StepCapsule capsule{.config = config,
                              .data = open_dataset(config.dataset, config.seed).train.data->schema(),
                              .before = run.trainer.saved_state(),
                              .batches = run.make(),
                              .planned = 100,
                              .rate_multiplier = 1};
    const float own = run.trainer.step(capsule.batches, *run.feed).row.loss;
    EXPECT_TRUE(capsule.decisions->empty());
    RunConfig fp32 = config;
    fp32.precision.preset = "fp32";
    CapsuleStep(capsule, fp32).run();
    ASSERT_EQ(capsule.decisions->at(0).size(), 2u) << "found by the step as it was";
    const std::vector<double> proposals = capsule.decisions->at(0)[0].values();
    EXPECT_EQ(CapsuleStep(capsule).run().row.loss, own) << "with them";
    StepCapsule fresh = capsule;
    fresh.decisions = std::make_shared<StepDecisions>();
    EXPECT_EQ(CapsuleStep(fresh).run().row.loss, own) << "and without";
    EXPECT_EQ(fresh.decisions->at(0)[0].values(), proposals);
}

TEST_F(DetectionRun, PredictsObjectsAndWritesResults) {
    const test::Ended run = train(changed({"model.options.score_threshold=0.01", "checkpoint.best=false"}));
    TrainedModel model(run.folder);
    EXPECT_EQ(model.form().kind, InputForm::Kind::scene);
    EXPECT_THAT(model.classes(), ElementsAre("square", "disc", "triangle"));
    for (const auto& [width, height] : {std::pair{64, 64}, {300, 40}, {1, 7}}) {
        const Picture picture{width, height,
                              std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height),
                                                        90)};
        const Answer answer = model.answer(picture);
        for (const FoundObject& each : answer.found) {
            EXPECT_TRUE(each.score > 0 && each.score <= 1);
            EXPECT_LE(each.box[0] + each.box[2], width + 0.01);
            EXPECT_LE(each.box[1] + each.box[3], height + 0.01);
        }
        EXPECT_EQ(with_objects(picture, answer.found).rgb.size(), picture.rgb.size());
    }
    const PartReport report = model.evaluate("test", 1, {}, false, folder_ / "found");
    EXPECT_EQ(report.figures.loss, run.all<EpochDone>().back().test.loss);
    EXPECT_EQ(report.figures.of("mask_map"), run.all<EpochDone>().back().test.of("mask_map"));
    ASSERT_TRUE(report.detections && report.detections->masks);
    ASSERT_EQ(report.files.size(), 2u);
    std::vector<std::size_t> sizes;
    for (const auto& file : report.files) {
        std::ifstream in(file);
        const nlohmann::json results = nlohmann::json::parse(in);
        sizes.push_back(results.size());
        for (const auto& each : results)
            EXPECT_TRUE(each["image_id"] >= 1 && each["image_id"] <= 4);
    }
    EXPECT_EQ(sizes[0], sizes[1]);
    EXPECT_GT(sizes[0], 0u);
}

}  // namespace
}  // namespace engine
