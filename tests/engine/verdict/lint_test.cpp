#include "engine/verdict/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/dataset_preview.h"
#include "engine/settings/catalog.h"
#include "finding_ids.h"

namespace engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunConfig settings(const std::vector<std::string>& overrides) {
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

/// Settings that have a finding, and further facts that the rule needs.
struct Hazard {
    const char* id;
    std::vector<std::string> settings;
    bool gpu = false;
};

std::vector<Hazard> hazards() {
    return {
        {"fp16-without-scaler", {"precision.preset=amp-fp16", "precision.scaler=off"}},
        {"fp16-without-scaler", {"precision.preset=o2-fp16", "precision.scaler=off"}},
        {"fp16-without-scaler", {"precision.preset=pure-fp16"}},
        {"fp16-without-scaler", {"precision.preset=pure-fp16", "scaler.min_scale=4096"}},
        {"scaler-without-fp16", {"precision.preset=amp-bf16", "precision.scaler=dynamic"}},
        {"scaler-without-fp16", {"precision.preset=fp32", "precision.scaler=static"}},
        {"growth-interval-beyond-run", {"max_steps=100"}},
        {"growth-interval-beyond-run", {"max_steps=1", "scaler.growth_interval=2"}},
        {"forced-fp16", {"precision.force.exp=fp16"}},
        {"scale-no-power-of-two", {"scaler.init_scale=1000"}},
        {"scale-no-power-of-two", {"scaler.init_scale=1000", "scaler.min_scale=900"}},
        {"factor-no-power-of-two", {"scaler.growth_factor=1.5"}},
        {"factor-no-power-of-two", {"scaler.backoff_factor=0.8"}},
        {"floor-at-initial-scale", {"scaler.min_scale=65536"}},
        {"ceiling-at-initial-scale", {"scaler.max_scale=65536"}},
        {"static-scale-beyond-usual",
         {"precision.preset=amp-fp16", "precision.scaler=static", "scaler.init_scale=16777216"}},
        {"static-scale-beyond-usual",
         {"precision.preset=o2-fp16", "precision.scaler=static", "scaler.init_scale=131072",
          "scaler.max_scale=131072"}},
        {"batch-norm-fp16",
         {"precision.preset=pure-fp16", "model.kind=resnet18", "dataset.kind=glyphs"}},
        {"accumulate-with-batch-norm", {"model.kind=resnet18", "accumulate=4", "batch_size=32"}},
        {"updates-below-fp16",
         {"precision.preset=pure-fp16", "optimizer.kind=adam", "optimizer.lr=1e-6"}},
        {"epsilon-below-fp16", {"teach.norm=composed", "teach.norm_epsilon=1e-8"}},
        {"fp8-history-longer-than-run", {"precision.preset=fp8-delayed", "max_steps=500"}},
        {"fp8-scaler-on", {"precision.preset=mxfp8", "precision.scaler=dynamic"}},
        {"fp8-fp16-without-scaler", {"precision.preset=fp8-current", "precision.autocast=fp16"}},
        {"fp8-multiples",
         {"dataset.kind=spirals", "model.kind=mlp", "model.options.hidden=[48,64]",
          "precision.preset=mxfp8"},
         true},
        {"fp8-small-layers",
         {"dataset.kind=spirals", "model.kind=mlp", "precision.preset=fp8-current"},
         true},
        {"fp8-emulated-slow", {"precision.preset=nvfp4"}},
        {"fp8-emulated-slow", {"precision.preset=amp-bf16", "precision.force.fc1=mxfp8"}},
        {"fp8-head", {"precision.preset=mxfp8", "quantize.head=true"}},
        {"fp8-saturate-hides-overflow",
         {"precision.preset=fp8-current", "quantize.non_finite=saturate"}},
        {"mx-floor", {"precision.preset=mxfp8", "quantize.mx_scale=floor"}},
        {"fp4-without-sr", {"precision.preset=mxfp4", "quantize.stochastic_rounding=none"}},
        {"fp4-no-rht", {"precision.preset=nvfp4", "quantize.hadamard=off"}},
        {"fp4-all-blocks",
         {"dataset.kind=text-generated", "model.kind=transformer-lm", "model.options.layers=4",
          "precision.preset=nvfp4", "quantize.last_blocks=0"}},
        {"recipe-refused", {"model.kind=resnet18", "precision.preset=mxfp8"}},
        {"resume-without-history",
         {"precision.preset=fp8-delayed", "teach.resume_without_history=true"}},
        {"nothing-quantised",
         {"dataset.kind=text-generated", "model.kind=transformer-lm", "precision.preset=mxfp8",
          "quantize.first_blocks=99"}},
        {"tf32-off", {"precision.preset=fp32", "device=cuda"}, true},
        {"sizes-no-multiple-of-8",
         {"dataset.kind=spirals", "model.kind=mlp", "model.options.hidden=[30,64]"},
         true},
        {"sizes-no-multiple-of-8",
         {"dataset.kind=text-generated", "model.kind=transformer-lm", "model.options.width=36",
          "model.options.heads=6"},
         true},
        {"batch-no-multiple-of-8", {"batch_size=100"}, true},
        {"learning-rate-far-above-default", {"optimizer.kind=adam", "optimizer.lr=0.2"}},
        {"learning-rate-far-above-default", {"optimizer.kind=sgd", "optimizer.lr=1000"}},
        {"network-ends-in-probabilities",
         {R"json(model.network=["network(image):", "  Flatten", "  fc: Linear(outputs)", "  Softmax(1)"])json"}},
        {"network-ends-in-probabilities",
         {"dataset.kind=text-generated",
          R"json(model.network=["network(tokens) gives token scores:", "  Embedding(8)", "  fc: Linear(outputs)", "  p = Softmax(dim=-1)"])json"}},
        {"frozen-norm-of-random-weights",
         {"dataset.kind=shapes", "model.kind=maskrcnn-resnet18", "model.options.norm=frozen"}},
        {"detector-without-warmup",
         {"dataset.kind=shapes", "model.kind=maskrcnn-resnet18", "model.options.norm=frozen"}},
        {"detector-rate-too-high", {"dataset.kind=shapes", "model.kind=maskrcnn-resnet18"}},
        {"batch-norm-of-one-picture",
         {"dataset.kind=shapes", "model.kind=maskrcnn-resnet18", "batch_size=1"}},
        {"clip-before-unscale", {"teach.clip_before_unscale=true", "clip.kind=norm"}},
        {"update-each-micro-batch", {"teach.update_each_micro_batch=true", "accumulate=2"}},
        {"resume-without-scaler", {"teach.resume_without_scaler=true"}},
        {"loss-of-probabilities", {"teach.loss=bce-probabilities"}},
        {"where-of-mixed-dtypes", {"teach.loss=where-mismatch"}},
        {"composed-norm", {"teach.norm=composed"}},
        {"boxes-in-16-bits",
         {"dataset.kind=shapes", "model.kind=maskrcnn-resnet18", "teach.boxes=low"}},
        {"planted-fault", {"teach.plant.kind=exp-12", "teach.plant.step=3"}},
    };
}

const LintFinding* find(const std::vector<LintFinding>& findings, const std::string& id) {
    for (const auto& each : findings) {
        if (each.id == id) return &each;
    }
    return nullptr;
}

TEST(Lint, EveryFindingIsFoundAndItsFixRemovesIt) {
    for (const Hazard& hazard : hazards()) {
        SCOPED_TRACE(hazard.id + std::string(": ") + hazard.settings.front());
        const RunConfig config = settings(hazard.settings);
        const LintContext context{.data = nullptr, .gpu = hazard.gpu};
        const auto findings = lint(config, context);
        const LintFinding* finding = find(findings, hazard.id);
        ASSERT_NE(finding, nullptr) << testing::PrintToString(ids(findings));
        EXPECT_FALSE(finding->fix.empty());
        const ParsedConfig mended = with_fix(config, *finding);
        for (const auto& error : mended.errors) ADD_FAILURE() << error.str();
        EXPECT_EQ(find(lint(mended.config, context), hazard.id), nullptr);
        EXPECT_THAT(differing_fields(config, mended.config), testing::Not(IsEmpty()));
    }
}

TEST(Lint, ProbabilitiesAreRemovedWithTheirBracketsAndNotFromABlock) {
    const RunConfig config = settings({R"json(model.network=["network(image):", "  Flatten", "  fc: Linear(outputs)", "  Softmax(dim=(1))"])json"});
    const auto findings = lint(config);
    const LintFinding* finding = find(findings, "network-ends-in-probabilities");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(with_fix(config, *finding).config.model.network.all.back(), "  Identity");
    const char* const block = R"json(model.network=["block Last(n):", "  Linear(n)", "  Softmax(1)", "network(image):", "  Flatten", "  Last(8)", "  Last(outputs)"])json";
    EXPECT_EQ(find(lint(settings({block})), "network-ends-in-probabilities"), nullptr);
}

TEST(Lint, ANetworkMayEndInLogarithmsOfProbabilities) {
    const char* const network = R"json(model.network=["network(image):", "  Flatten", "  fc: Linear(outputs)", "  LogSoftmax(1)"])json";
    EXPECT_EQ(find(lint(settings({network})), "network-ends-in-probabilities"), nullptr);
}

TEST(Lint, EveryFindingCitesAHeadingOfTheHandbook) {
    std::ifstream file(std::string(HALFTONE_HANDBOOK) + "/hazards.md");
    std::set<std::string> headings;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) headings.insert(line.substr(3));
    }
    ASSERT_FALSE(headings.empty());
    for (const Hazard& hazard : hazards()) {
        const auto findings = lint(settings(hazard.settings), {.data = nullptr, .gpu = hazard.gpu});
        const LintFinding* finding = find(findings, hazard.id);
        ASSERT_NE(finding, nullptr) << hazard.id;
        EXPECT_THAT(headings, Contains(finding->handbook)) << hazard.id;
        EXPECT_FALSE(finding->sentence.empty() || finding->reason.empty());
    }
}

TEST(Lint, HasNothingAgainstTheDefaultComparison) {
    for (const char* preset : {"fp32", "amp-fp16"}) {
        RunConfig config = default_comparison();
        config.precision.preset = preset;
        EXPECT_THAT(ids(lint(config)), IsEmpty()) << preset;
    }
}

TEST(Lint, OfThePresetsOnACpuOnlyPureFp16HasAFindingAndRecipesANote) {
    for (const auto& info : precisions()) {
        if (info.settings.tf32) continue;  // needs a GPU
        RunConfig config = completed(RunConfig{});
        config.precision.preset = info.kind;
        const bool pure = info.kind == "pure-fp16";
        const bool recipe = info.settings.recipe != RecipeKind::none;
        EXPECT_EQ(ids(lint(config)), pure     ? std::vector<std::string>{"fp16-without-scaler"}
                                     : recipe ? std::vector<std::string>{"fp8-emulated-slow"}
                                              : std::vector<std::string>{})
            << info.kind;
    }
}

TEST(Lint, TheLengthOfTheRunFollowsFromTheDataWhereTheyAreKnown) {
    DatasetPreview data;
    data.train_samples = 640;
    RunConfig config = settings({"batch_size=64", "epochs=4", "scaler.growth_interval=41"});
    EXPECT_THAT(ids(lint(config)), IsEmpty()) << "the length is not known";
    EXPECT_THAT(ids(lint(config, {.data = &data})), ElementsAre("growth-interval-beyond-run"))
        << "4 epochs of 10 batches";
    config.scaler.growth_interval = 40;
    EXPECT_THAT(ids(lint(config, {.data = &data})), IsEmpty());
    config.accumulate = 2;
    EXPECT_THAT(ids(lint(config, {.data = &data})), ElementsAre("growth-interval-beyond-run"));
}

TEST(Lint, AShortLastBatchThatJoinsTheOneBeforeIsNoStep) {
    const auto found = [](const char* stem, std::int64_t samples, std::int64_t interval) {
        DatasetPreview data;
        data.train_samples = samples;
        RunConfig config = settings({"model.kind=resnet18", "dataset.kind=glyphs", "batch_size=4",
                                     "epochs=1", "device=cpu"});
        config.model.options["stem"] = std::string(stem);
        config.scaler.growth_interval = interval;
        const auto all = ids(lint(config, {.data = &data}));
        return std::ranges::find(all, "growth-interval-beyond-run") != all.end();
    };
    // A single picture leaves the stem for ImageNet one pixel a channel: 4 + 5, not 4 + 4 + 1.
    EXPECT_TRUE(found("imagenet", 9, 3));
    EXPECT_FALSE(found("imagenet", 9, 2));
    EXPECT_FALSE(found("imagenet", 10, 3)) << "4 + 4 + 2";
    EXPECT_FALSE(found("cifar", 9, 3)) << "several pixels";
    EXPECT_FALSE(found("imagenet", 1, 1)) << "there is none before";
}

TEST(Lint, NamesTheLayersWhoseSizesAreNoMultiplesOf8) {
    const auto findings = lint(settings({"dataset.kind=spirals", "model.kind=mlp",
                                         "model.options.hidden=[64,30]", "batch_size=128"}),
                               {.data = nullptr, .gpu = true});
    const LintFinding* finding = find(findings, "sizes-no-multiple-of-8");
    ASSERT_NE(finding, nullptr);
    EXPECT_THAT(finding->fix, ElementsAre("model.options.hidden=[64,32]"));
    EXPECT_THAT(ids(lint(settings({"dataset.kind=spirals", "model.kind=mlp",
                                   "model.options.hidden=[64,32]"}),
                         {.data = nullptr, .gpu = true})),
                IsEmpty())
        << "two inputs and two classes cannot be changed";
}

TEST(Lint, TheWorstComeFirst) {
    const auto findings = lint(
        settings({"teach.resume_without_scaler=true", "scaler.init_scale=1000", "max_steps=10"}));
    EXPECT_THAT(ids(findings), ElementsAre("resume-without-scaler", "scale-no-power-of-two",
                                           "growth-interval-beyond-run"));
}

TEST(Lint, SettingsThatAreRefusedHaveNoFindings) {
    RunConfig config = settings({"scaler.init_scale=1000"});
    config.batch_size = 0;
    EXPECT_THAT(lint(config), IsEmpty());
}

TEST(Lint, OperationsOfTheFp32ListThatAreForcedToFp16) {
    const RunConfig config =
        settings({"precision.force.exp=fp16", "precision.force.linear=fp16",
                  "precision.force.fc1:softmax=fp16", "precision.force.log=bf16"});
    std::vector<std::vector<std::string>> fixes;
    for (const LintFinding& finding : lint(config)) {
        if (finding.id == "forced-fp16") fixes.push_back(finding.fix);
    }
    EXPECT_THAT(fixes, ElementsAre(ElementsAre("precision.force.exp=fp32"),
                                   ElementsAre("precision.force.fc1:softmax=fp32")));
}

TEST(Lint, AGpuIsOneThatIsNamedOrThatAutoTakes) {
    RunConfig config;
    EXPECT_FALSE(runs_on_gpu(config, 0));
    EXPECT_TRUE(runs_on_gpu(config, 1));
    config.device = "cpu";
    EXPECT_FALSE(runs_on_gpu(config, 1));
    config.device = "cuda:1";
    EXPECT_TRUE(runs_on_gpu(config, 0)) << "settings may be meant for another machine";
}

TEST(LintText, HoldsSentenceReasonAndChanges) {
    const auto findings = lint(settings({"scaler.init_scale=1000"}));
    ASSERT_EQ(findings.size(), 1u);
    const std::string text = to_text(findings.front());
    EXPECT_THAT(text, HasSubstr("warning: "));
    EXPECT_THAT(text, HasSubstr("--set scaler.init_scale=512.0"));
    const auto object = nlohmann::json::parse(to_json_line(findings.front()));
    EXPECT_EQ(object.at("id"), "scale-no-power-of-two");
    EXPECT_EQ(object.at("severity"), "warning");
    EXPECT_EQ(object.at("fix").at(0), "scaler.init_scale=512.0");
}

}  // namespace
}  // namespace engine
