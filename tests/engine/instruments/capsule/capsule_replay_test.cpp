#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/instruments/capsule.h"
#include "instruments/capsule/capsule_file.h"
#include "io/safetensors/safetensors.h"
#include "resume_support.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;

class CapsuleFileTest : public test::ResumedRuns {
protected:
    /// A capsule of a step of a run with these settings.
    std::filesystem::path capsule_of(RunConfig config, std::int64_t step) {
        config.max_steps = step;
        config.checkpoint.at_end = false;
        const Ended run = train(config);
        const auto file = folder_ / "step.capsule";
        write_capsule(run.folder, step, file);
        return file;
    }
    static void expect_identical(const CapsuleReplay& replay) {
        EXPECT_TRUE(replay.same_machine);
        EXPECT_TRUE(replay.same_gradients);
        EXPECT_TRUE(replay.identical());
        EXPECT_EQ(replay.report.cause, replay.recorded_cause);
    }
};

TEST_F(CapsuleFileTest, AStepOfPicturesIsTheSameBits) {
    RunConfig config = small_run("lenet", "amp-fp16");
    config.dataset.augment = true;
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 32;
    config.scaler.init_scale = 0x1p24;
    const CapsuleReplay replay = replay_capsule(capsule_of(config, 2));
    expect_identical(replay);
    EXPECT_EQ(replay.recorded_cause, SkipCause::scale_too_large);
    EXPECT_EQ(replay.step, 2);
}

TEST_F(CapsuleFileTest, AStepOfATextWithCarriedStateAndDropoutIsTheSameBits) {
    RunConfig config = test::small_text_run("amp-bf16");
    config.model.options["dropout"] = 0.3;
    config.accumulate = 2;
    const CapsuleReplay replay = replay_capsule(capsule_of(config, 3));
    expect_identical(replay);
    EXPECT_GT(replay.bound, 0);
}

TEST_F(CapsuleFileTest, AStepOfAMaskedTextIsTheSameBits) {
    expect_identical(replay_capsule(capsule_of(test::small_masked_run("o2-fp16"), 2)));
}

TEST_F(CapsuleFileTest, AScriptForPyTorchListsTheOperationsOfTheStep) {
    const auto script = folder_ / "step.py";
    write_pytorch_script(capsule_of(test::small_masked_run("o2-fp16"), 2), script);
    std::ifstream in(script);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const char* part : {"scaled_dot_product_attention", "cross_entropy", "weights/bert.",
                             "batch/0/masked", "if __name__ =="})
        EXPECT_NE(text.find(part), text.npos) << part;
}

/// On another machine sums may have another order: the bits differ, and the bound says whether that
/// matters.
TEST_F(CapsuleFileTest, OtherBitsAreMeasuredAgainstTheBound) {
    const auto file = capsule_of(small_run("mlp", "amp-fp16"), 2);
    CapsuleContent content = read_capsule_file(file);
    for (auto& [name, norm] : content.facts.gradients.norms) norm *= 1 + content.facts.bound / 2;
    content.facts.gradients.sha256 = "other";
    content.facts.machine.onednn = "0.1";
    write_capsule_file(file, content.capsule, content.facts);
    const CapsuleReplay within = replay_capsule(file);
    EXPECT_FALSE(within.same_machine);
    EXPECT_FALSE(within.identical());
    EXPECT_TRUE(within.within_bound());
    CapsuleFacts facts = content.facts;
    facts.loss *= 1 + 10 * facts.loss_bound;
    write_capsule_file(file, content.capsule, facts);
    EXPECT_FALSE(replay_capsule(file).within_bound());
    for (auto& [name, norm] : content.facts.gradients.norms) norm *= 1 + 10 * content.facts.bound;
    write_capsule_file(file, content.capsule, content.facts);
    EXPECT_FALSE(replay_capsule(file).within_bound());
}

/// If rounding decides which gradients overflow, other gradients may overflow on another machine.
TEST_F(CapsuleFileTest, OtherOverflowIsWithinTheBoundOnlyWhereARoundingMovesIt) {
    const auto file = capsule_of(small_run("mlp", "amp-fp16"), 2);
    CapsuleContent content = read_capsule_file(file);
    EXPECT_FALSE(content.facts.overflow_varies);
    content.facts.gradients.sha256 = "other";
    content.facts.gradients.norms.begin()->second = INFINITY;
    write_capsule_file(file, content.capsule, content.facts);
    EXPECT_TRUE(std::isinf(replay_capsule(file).difference));
    EXPECT_FALSE(replay_capsule(file).within_bound());
    content.facts.overflow_varies = true;
    write_capsule_file(file, content.capsule, content.facts);
    EXPECT_EQ(replay_capsule(file).difference, 0);
    EXPECT_TRUE(replay_capsule(file).within_bound());
    content.facts.gradients.norms.erase(content.facts.gradients.norms.begin());
    write_capsule_file(file, content.capsule, content.facts);
    EXPECT_FALSE(replay_capsule(file).within_bound());
}

/// Capsules written before the bound of the loss was recorded.
TEST_F(CapsuleFileTest, ACapsuleWithoutABoundOfTheLossIsRead) {
    const auto file = capsule_of(small_run("mlp", "amp-fp16"), 2);
    const SafetensorsFile whole = SafetensorsFile::open(file);
    auto description = nlohmann::json::parse(whole.metadata().at("halftone_capsule"));
    EXPECT_EQ(description.erase("loss_bound") + description.erase("overflow_varies"), 2u);
    const auto earlier = folder_ / "earlier.capsule";
    write_safetensors(earlier, whole.tensors(), {{"halftone_capsule", description.dump()}});
    expect_identical(replay_capsule(earlier));
    EXPECT_TRUE(std::isinf(read_capsule_file(earlier).facts.loss_bound));
}

TEST_F(CapsuleFileTest, RefusesFilesThatAreNoCapsuleOrDoNotFitTogether) {
    const auto file = capsule_of(small_run("mlp", "amp-fp16"), 2);
    const auto bad = folder_ / "bad.capsule";
    std::ofstream(bad) << "not a safetensors file";
    EXPECT_THROW(read_capsule_file(bad), Error);
    const SafetensorsFile whole = SafetensorsFile::open(file);
    const auto metadata = whole.metadata().at("halftone_capsule");
    const auto write = [&](const std::vector<TensorEntry>& tensors, const std::string& text) {
        write_safetensors(bad, tensors, {{"halftone_capsule", text}});
    };
    const auto expect_refused = [&](const std::string& from, const std::string& to) {
        std::string text = metadata;
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        write(whole.tensors(), text.replace(at, from.size(), to));
        EXPECT_THROW(read_capsule_file(bad), Error) << to;
    };
    write_safetensors(bad, whole.tensors());
    EXPECT_THROW(read_capsule_file(bad), Error);
    expect_refused("\"format\":1", "\"format\":2");
    expect_refused("\"scale\":65536.0", "\"scale\":\"nan\"");
    expect_refused("\"scale\":65536.0", "\"scale\":-1");
    expect_refused("\"planned\":", "\"planned\":-");
    expect_refused("\"batch_size\":16", "\"batch_size\":-16");
    expect_refused("\"shape\":[2]", "\"shape\":[3]");
    expect_refused("\"shape\":[2]", "\"shape\":[-2]");
    std::vector<TensorEntry> tensors = whole.tensors();
    tensors.front().name = "elsewhere/../x";
    write(tensors, metadata);
    EXPECT_THROW(read_capsule_file(bad), Error);
    tensors.erase(tensors.begin());
    write(tensors, metadata);
    EXPECT_THROW(replay_capsule(bad), Error);
}

}  // namespace
}  // namespace engine
