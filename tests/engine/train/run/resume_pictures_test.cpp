#include "engine/train/resume.h"

#include <fstream>

#include "engine/io/picture.h"
#include "engine/runs/run_store.h"
#include "resume_support.h"
#include "support/click_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::small_run;
using testing::ElementsAre;
using testing::HasSubstr;

class ResumePictures : public test::ResumedRuns {};

RunConfig drawing_run() {
    RunConfig config = small_run("autoencoder", "fp32");
    config.model.options["channels"] = std::int64_t{4};
    config.dataset.train_limit = 64;  // 4 steps per epoch, with pictures after each
    config.dataset.test_limit = 16;
    config.epochs = 3;
    config.checkpoint.every_steps = 4;
    return config;
}

std::vector<std::int64_t> picture_steps(const Ended& run) {
    std::vector<std::int64_t> out;
    for (const auto& each : list_sample_pictures(run.folder)) out.push_back(each.step);
    return out;
}

TEST_F(ResumePictures, ANewRunHasThePicturesOfItsParentUpToTheCheckpoint) {
    const Ended whole = train(drawing_run());
    EXPECT_THAT(picture_steps(whole), ElementsAre(4, 8, 12));
    const Ended other = resume(whole, "8", {"optimizer.lr=0.001"});
    EXPECT_NE(other.run, whole.run);
    EXPECT_THAT(picture_steps(other), ElementsAre(4, 8, 12));
    const auto same = [&](const char* file) {
        return load_picture(other.folder / "samples" / file).rgb ==
               load_picture(whole.folder / "samples" / file).rgb;
    };
    EXPECT_TRUE(same("4.png") && same("8.png"));
    EXPECT_FALSE(same("12.png")) << "one of its own";
}

TEST_F(ResumePictures, PicturesThatCannotBeCopiedCostNothingElse) {
    const Ended whole = train(drawing_run());
    const ResumePlan plan = plan_resume(*store_->find(whole.run), "4");
    SessionOptions options;
    options.continuation = plan.continuation;
    options.folder = folder_ / "elsewhere";
    fs::remove(whole.folder / "samples" / "4.png");
    fs::create_symlink("nowhere", whole.folder / "samples" / "4.png");
    const Ended other = train(plan.config, options);
    EXPECT_EQ(other.figures, whole.figures);
    ASSERT_THAT(other.all<RunWarning>(), testing::SizeIs(1));
    EXPECT_THAT(other.all<RunWarning>()[0].message.str(), HasSubstr("4.png"));
}

TEST_F(ResumePictures, ARunThatGoesOnHasNoPicturesOfStepsThatItTookBack) {
    const Ended whole = train(drawing_run());
    fs::copy_file(whole.folder / "samples" / "12.png", whole.folder / "samples" / "10.png");
    for (const auto& checkpoint : list_checkpoints(whole.folder)) {
        if (checkpoint.step > 8) fs::remove_all(checkpoint.folder);
    }
    const Ended resumed = resume(whole);
    EXPECT_EQ(resumed.run, whole.run);
    EXPECT_THAT(picture_steps(resumed), ElementsAre(4, 8, 12)) << "there was no evaluation at 10";
}

}  // namespace
}  // namespace engine
