#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/instruments/microscope.h"
#include "engine/instruments/xray.h"
#include "engine/network/network.h"
#include "engine/settings/catalog.h"
#include "engine/train/data_parallel.h"
#include "engine/train/trained_model.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/step_variant.h"
#include "models/forced_types.h"
#include "resume_support.h"
#include "support/detection_run.h"
#include "support/expectations.h"
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
    // And of others to other ones: nothing but the weights moves them.
    const auto moved = train(unsaved({"max_steps=2", "evaluation.every_steps=1"})).all<EpochDone>();
    ASSERT_EQ(moved.size(), 2u);
    EXPECT_NE(moved[0].test.loss, moved[1].test.loss);
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

TEST_F(DetectionRun, OfTwoRanksIsThatOfTheirPartsAccumulatedBitForBit) {
    RunConfig config = unsaved({"model.options.norm=frozen", "model.options.score_threshold=0.01",
                                "max_steps=2"});
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
    for (std::int64_t i = 0; i < one.record.size(); ++i) {
        const StepRecord ranks = two.record.row(i), parts = one.record.row(i);
        EXPECT_EQ(ranks.loss, parts.loss);
        EXPECT_EQ(ranks.grad_norm, parts.grad_norm);
        for (std::size_t column = 3; column < 8; ++column)
            EXPECT_EQ(ranks.*metric_columns[column], parts.*metric_columns[column]) << column;
    }
    // The detections of the ranks' halves of the test scenes are those of all of them. (Its losses
    // are means over the regions of other batches.)
    const auto figures = [](const test::Ended& run) { return run.all<EpochDone>().back().test; };
    EXPECT_GT(figures(one).of("box_map"), 0);
    for (const char* key : {"box_map", "box_map50", "mask_map"})
        EXPECT_EQ(figures(two).of(key), figures(one).of(key)) << key;
}

TEST_F(DetectionRun, OfOneBatchLosesTheShareOfItsLossThatTorchvisionsDoes) {
    constexpr double torchvisions_share = 0.351;  // by tests/peer/detection_fraction.py
    const test::Ended run =
        train(unsaved({"dataset.train_limit=4", "batch_size=4", "epochs=30", "max_steps=30",
                       "schedule.kind=constant", "optimizer.weight_decay=0.01",
                       "evaluation.every_epochs=0"}));
    ASSERT_EQ(run.record.size(), 30);
    EXPECT_LE(run.record.row(29).loss, (torchvisions_share + 0.1) * run.record.row(0).loss);
}

/// Losses of two steps.
std::vector<float> two_losses(const test::Ended& run) {
    const std::vector<float> out = test::losses_of(run.record);
    EXPECT_EQ(out.size(), 2u);
    return out;
}

TEST_F(DetectionRun, TakesForcedTypesAndRecipesInItsHeads) {
    const std::vector<std::string> two{"max_steps=2", "evaluation.every_epochs=0"};
    const auto low = two_losses(train(unsaved(two, "amp-bf16")));
    for (const char* module : {"rpn.head", "roi_heads.mask_head"}) {
        std::vector<std::string> forced = two;
        forced.push_back(std::string("precision.force.") + module + "=fp32");
        EXPECT_NE(two_losses(train(unsaved(forced, "amp-bf16"))), low) << module;
    }
    for (const char* preset : {"fp8-current"}) {
        SCOPED_TRACE(preset);
        const test::Ended run = train(unsaved(two, preset));
        const auto coded = two_losses(run);
        EXPECT_NE(coded, low);
        EXPECT_NEAR(coded.front(), low.front(), 0.2 * low.front());
        EXPECT_GE(run.record.row(0).x_zeroed_share, 0) << "of products that it covers";
        const auto covered = run.all<RecipeStarted>();
        ASSERT_EQ(covered.size(), 1u);
        EXPECT_EQ(covered.front().quantised, 2) << "fc6 and fc7";
        EXPECT_EQ(covered.front().kept, 2) << "the output layers of boxes";
    }
}

TEST(DetectionForcedTypes, NoneIsForForcedGeometry) {
    for (const char* op : {"anchors", "balanced_sample", "batched_nms", "box_decode", "box_encode",
                           "box_iou", "gather_anchors", "mask_targets", "match_boxes",
                           "multi_scale_roi_align", "nms", "roi_align", "select_detections",
                           "select_proposals"}) {
        const std::string text = error_text(ErrorCode::settings, [&] {
            (void)force_rules({{op, ForcedType::fp16}}, {"rpn.head", "roi_heads.mask_head"});
        });
        EXPECT_THAT(text, testing::HasSubstr(std::string("precision.force.") + op));
        EXPECT_THAT(text, testing::HasSubstr("operation whose type can be forced"));
    }
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

StepCapsule capsule_of(test::RankRun& run, const RunConfig& config) {
    return {.config = config,
            .data = open_dataset(config.dataset, config.seed).train.data->schema(),
            .before = run.trainer.saved_state(),
            .batches = run.make(),
            .planned = 100,
            .rate_multiplier = 1};
}

TEST_F(DetectionRun, ACapsuleTakesTheProposalsOfTheStep) {
    const RunConfig config = test::small_detection_run("amp-fp16");
    test::RankRun run(config);
    const StepCapsule capsule = capsule_of(run, config);
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

TEST_F(DetectionRun, ShadowPassAndComparisonsReadTheProposalsOfTheStep) {
    const RunConfig config = test::small_detection_run("amp-bf16");
    test::RankRun run(config);
    const StepCapsule capsule = capsule_of(run, config);
    StepCapsule without = capsule;
    without.decisions = std::make_shared<StepDecisions>();
    without.decisions->keep(0, {Tensor::zeros({2, 40, 4}, DType::f32, Device{}),
                                Tensor::zeros({2}, DType::i64, Device{})});
    const auto shadow = [](const StepCapsule& of) {
        return shadow_histograms(CapturedStep(std::make_shared<const StepCapsule>(of)));
    };
    EXPECT_NE(shadow(capsule), shadow(without)) << "which has no regions but the objects";
    EXPECT_FALSE(capsule.decisions->empty()) << "found by the step in its own precision";
    // The precision search compares by this.
    EXPECT_NE(StepComparison(capsule).gradient_error(config),
              StepComparison(without).gradient_error(config));
}

TEST_F(DetectionRun, AnXrayHasARowForEachMapThatTheFirstHeadReads) {
    const Xray xray = xray_first_step(test::small_detection_run("amp-bf16"));
    for (const char* module : {"rpn.head.conv.0.0", "rpn.head.cls_logits", "rpn.head.bbox_pred"}) {
        std::vector<std::int64_t> sides, calls;
        for (const XrayOp& op : xray.ops) {
            if (op.pass != XrayPass::forward || op.module != module) continue;
            sides.push_back(op.outputs.front().shape.back());
            calls.push_back(op.call);
        }
        EXPECT_THAT(sides, ElementsAre(16, 8, 4, 2, 1)) << module;
        EXPECT_THAT(calls, ElementsAre(1, 2, 3, 4, 5)) << module;
    }
    for (const char* op : {"anchors", "select_proposals", "match_boxes", "balanced_sample",
                           "box_encode", "multi_scale_roi_align", "mask_targets"})
        EXPECT_NE(std::ranges::find(xray.ops, op, &XrayOp::op), xray.ops.end()) << op;
    for (const XrayOp& op : xray.ops)
        if (op.module == "backbone.fpn" || op.module == "roi_heads.box_head") {
            EXPECT_EQ(op.call, 0) << op.module << " is called once and runs " << op.op << " often";
        }
    EXPECT_THAT(text_of(xray), testing::HasSubstr("rpn.head.cls_logits, call 5"));
    EXPECT_THAT(to_json(xray), testing::HasSubstr("\"call\""));
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
