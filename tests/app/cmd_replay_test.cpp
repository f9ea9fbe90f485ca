#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "kept_runs.h"

namespace app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// The capsule of a skipped step.
class Replay : public KeptRuns {
protected:
    void SetUp() override {
        train({"--set", "max_steps=2", "--set", "precision.preset=amp-fp16", "--set",
               "scaler.init_scale=16777216", "--set", "device=cpu"});
        EXPECT_THAT(lines({"skips", "1", "1", "--capsule", capsule_}),
                    ElementsAre(HasSubstr(capsule_ + ": ")));
    }
    const std::string capsule_ = (home_ / "step.capsule").string();
};

TEST_F(Replay, ComputesTheSameBits) {
    const auto replay = object({"replay", capsule_, "--json"});
    EXPECT_EQ(replay.at("step"), 1);
    EXPECT_EQ(replay.at("identical"), true);
    EXPECT_EQ(replay.at("same_machine"), true);
    EXPECT_EQ(replay.at("loss"), replay.at("recorded_loss"));
    EXPECT_EQ(replay.at("scale").get<double>(), 0x1p24);
    EXPECT_EQ(replay.at("report").at("cause"), "scale_too_large");
    EXPECT_THAT(lines({"replay", capsule_}),
                Contains("Loss, loss scale and gradients are the same bits."));
}

TEST_F(Replay, NeedsTheCapsuleAlone) {
    std::filesystem::remove_all(home_ / "halftone");
    EXPECT_EQ(object({"replay", capsule_, "--json"}).at("identical"), true);
}

TEST_F(Replay, WritesAPyTorchScript) {
    const std::string script = (home_ / "step.py").string();
    EXPECT_THAT(lines({"replay", capsule_, "--to", "pytorch", "-o", script}), ElementsAre(script));
    std::ostringstream text;
    text << std::ifstream(script).rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("import torch"));
    EXPECT_THAT(text.str(), HasSubstr("step.capsule"));
    expect_refused({"replay", capsule_, "--to", "numpy", "-o", script}, 2,
                   "a script is written with --to pytorch -o FILE");
    expect_refused({"replay", capsule_, "--to", "pytorch"}, 2,
                   "a script is written with --to pytorch -o FILE");
}

TEST_F(Replay, ADamagedCapsuleIsRefused) {
    std::filesystem::resize_file(capsule_, std::filesystem::file_size(capsule_) / 2);
    expect_refused({"replay", capsule_}, 3, "step.capsule");
    expect_refused({"replay", (home_ / "none.capsule").string()}, 3, "none.capsule");
}

}  // namespace
}  // namespace app
