#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "engine/data/dataset_preview.h"
#include "engine/io/picture.h"
#include "engine/verdict/lint.h"
#include "finding_ids.h"
#include "io/safetensors/tensor_file.h"
#include "support/detection_run.h"
#include "temp_folder.h"

// Rules of detectors that look at the data and at the file of the first weights.
namespace engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

struct DetectorLint : testing::Test {
    test_support::TempFolder folder;

    static RunConfig changed(const RunConfig& config, const std::vector<std::string>& overrides) {
        const ParsedConfig parsed = parse_run_config(to_json(config), overrides);
        EXPECT_THAT(parsed.errors, testing::IsEmpty());
        return parsed.config;
    }
    static RunConfig detector(const std::vector<std::string>& overrides) {
        return changed(test::small_detection_run("fp32"), overrides);
    }
    /// A picture of 100 pixels with a square of this side.
    RunConfig coco(int side, const std::vector<std::string>& overrides = {}) const {
        save_picture(folder / "a.png",
                     {100, 100, std::vector<std::uint8_t>(std::size_t{100} * 100 * 3, 90)});
        const std::string box = std::to_string(side);
        std::ofstream(folder / "a.json")
            << R"({"images":[{"id":1,"file_name":"a.png","width":100,"height":100}],)"
            << R"("categories":[{"id":3,"name":"dog"}],"annotations":[{"id":1,"image_id":1,)"
            << R"("category_id":3,"bbox":[40,40,)" << box << ',' << box << "]}]}";
        RunConfig config = detector({"model.options.masks=false"});
        config.dataset = {};
        config.dataset.kind = "coco";
        config.dataset.path.assign(1, (folder / "a.json").string());
        config.dataset.options = {{"short_side", std::vector<std::int64_t>{100}},
                                  {"long_side", std::int64_t{200}},
                                  {"test_share", 0.0}};
        return changed(config, overrides);
    }
    static std::vector<LintFinding> findings(const RunConfig& config) {
        const DatasetPreview data = preview_dataset(config.dataset, config.seed, 0);
        return lint(config, {.data = &data});
    }
    /// The finding goes with its fix.
    static void expect(const RunConfig& config, const std::string& id) {
        const std::vector<LintFinding> all = findings(config);
        const auto found = std::ranges::find(all, id, &LintFinding::id);
        ASSERT_NE(found, all.end()) << id << " among " << testing::PrintToString(ids(all));
        const ParsedConfig mended = with_fix(config, *found);
        EXPECT_THAT(mended.errors, testing::IsEmpty());
        EXPECT_THAT(ids(findings(mended.config)), Not(Contains(id)));
        std::ifstream file(std::string(HALFTONE_HANDBOOK) + "/hazards.md");
        std::set<std::string> headings;
        for (std::string line; std::getline(file, line);) headings.insert(line);
        EXPECT_THAT(headings, Contains("## " + found->handbook));
    }
    RunConfig with_weights(RunConfig config, std::int64_t outputs, float variance) const {
        TensorMap tensors;
        tensors["backbone.body.bn1.running_var"] = Tensor::of({1, variance}, {2}, DType::f32, Device{});
        tensors["roi_heads.box_predictor.cls_score.weight"] = Tensor::zeros({outputs, 4}, DType::f32);
        config.model.init_from = (folder / "weights.safetensors").string();
        save_tensors(config.model.init_from, tensors);
        return config;
    }
};

TEST_F(DetectorLint, AnchorsThatMissTheBoxes) {
    EXPECT_THAT(ids(findings(detector({}))), Not(Contains("anchors-miss-boxes")));
    expect(detector({"model.options.anchor_sizes=[128,256,512,1024,2048]"}), "anchors-miss-boxes");
}

TEST_F(DetectorLint, BoxesUnderFourPixels) {
    EXPECT_THAT(ids(findings(coco(5))), Not(Contains("boxes-under-four-pixels")));
    expect(coco(3), "boxes-under-four-pixels");
    EXPECT_THAT(ids(findings(coco(3, {"dataset.long_side=4000", "dataset.short_side=[64]"}))),
                Not(Contains("boxes-under-four-pixels")))
        << "a longer side cannot be asked for";
}

TEST_F(DetectorLint, FrozenVariancesOfZero) {
    const RunConfig config = with_weights(
        detector({"model.options.norm=frozen", "model.options.frozen_norm_eps=0"}), 4, 0);
    expect(config, "frozen-variance-of-zero");
    EXPECT_THAT(ids(findings(with_weights(config, 4, 1))), Not(Contains("frozen-variance-of-zero")));
}

TEST_F(DetectorLint, WeightsOfCoco) {
    const RunConfig config = with_weights(coco(30, {"model.options.norm=frozen"}), 91, 1);
    expect(config, "dense-labels-of-coco-weights");
    expect(config, "coco-weights-with-eps");
    RunConfig other = config;
    other.model.new_head = true;
    EXPECT_THAT(ids(findings(other)), Not(Contains("dense-labels-of-coco-weights")));
    EXPECT_THAT(ids(findings(with_weights(config, 4, 1))),
                Not(Contains(testing::AnyOf("dense-labels-of-coco-weights", "coco-weights-with-eps"))));
}

TEST_F(DetectorLint, ARunThatTakesHoursOnACpu) {
    const RunConfig config = detector({"epochs=100000000", "optimizer.lr=1e-6", "threads=1"});
    const auto found = lint_measured(config);
    ASSERT_THAT(ids(found), ElementsAre("training-takes-hours"));
    // Another measurement could be slower: that of the finding says how long the mended run takes.
    const double step_seconds = std::stod(found.front().sentence.args.at(1));
    const RunConfig mended = with_fix(config, found.front()).config;
    EXPECT_GT(mended.max_steps, 0);
    EXPECT_LT(step_seconds * static_cast<double>(mended.max_steps), 6 * 3600);
}

}  // namespace
}  // namespace engine
