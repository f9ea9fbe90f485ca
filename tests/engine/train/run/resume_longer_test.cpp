#include "engine/train/resume.h"

#include "engine/base/error.h"
#include "resume_support.h"
#include "support/click_run.h"
#include "train/run/saved_run.h"

namespace engine {
namespace {

using test::Ended;
using test::patience_s;
using test::small_run;
using test::spirals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ResumeLonger : public test::ResumedRuns {};

TEST_F(ResumeLonger, FewerEpochsOrStepsThanDoneAreRefused) {
    RunConfig config = spirals(0);
    config.epochs = 3;
    config.batch_size = 128;
    const Ended done = train(config);
    const auto fields = [&](const std::vector<std::string>& changes,
                            const std::string& from = "last") {
        std::string out;
        for (const auto& error : plan_resume(*store_->find(done.run), from, changes).errors)
            out += error.field + ' ';
        return out;
    };
    EXPECT_EQ(fields({"epochs=1"}), "epochs ");
    EXPECT_EQ(fields({"epochs=2"}), "epochs ");
    EXPECT_EQ(fields({"max_steps=5"}), "epochs max_steps ");
    EXPECT_EQ(fields({"epochs=5", "max_steps=5"}), "max_steps ");
    EXPECT_EQ(fields({"optimizer.lr=0.001"}), "epochs ") << "there is nothing left to do";
    EXPECT_EQ(fields({"epochs=4"}), "");
    RunConfig by_steps = spirals(8);
    const Ended short_one = train(by_steps);
    EXPECT_EQ(plan_resume(*store_->find(short_one.run), "last", {"max_steps=7"}).errors.size(), 1U);
    EXPECT_EQ(plan_resume(*store_->find(short_one.run), "last", {"epochs=2000"}).errors.size(), 1U)
        << "max_steps ends it";
    EXPECT_THAT(plan_resume(*store_->find(short_one.run), "last", {"max_steps=9"}).errors,
                IsEmpty());
}

/// The learning rate that the checkpoint of step 6 keeps.
std::vector<double> last_rate(const Ended& run) {
    return read_saved_run(run.folder / "checkpoint-6").training.optimizer.at("groups.lr").values();
}

TEST_F(ResumeLonger, ARunStoppedInItsLastEvaluationGetsIt) {
    RunConfig config = small_run("lenet", "fp32");
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 400;
    config.evaluation_batch = 1;
    config.epochs = 10;
    config.max_steps = 6;  // within the second epoch
    config.schedule.kind = "one-cycle";
    const Ended whole = train(config);
    const Ended stopped = train(config, {}, 6);
    ASSERT_EQ(stopped.all<RunDone>().at(0).reason, DoneReason::stopped);
    ASSERT_EQ(stopped.all<EpochDone>().size(), 1U) << "of the first epoch";
    const Ended resumed = resume(stopped);
    ASSERT_EQ(resumed.all<EpochDone>().size(), 1U);
    EXPECT_EQ(resumed.all<EpochDone>()[0].test.loss, whole.all<EpochDone>().at(1).test.loss);
    EXPECT_EQ(resumed.all<RunDone>().at(0).test.loss, whole.all<RunDone>().at(0).test.loss);
    EXPECT_THROW((void)plan_resume(*store_->find(stopped.run)), Error) << "now it is done";
    EXPECT_EQ(last_rate(stopped), last_rate(whole)) << "though no update computes it any more";

    // Its checkpoint was written again: a continuation does not evaluate it once more.
    const Ended longer = resume(resumed, "last", {"max_steps=7"}, LongerSchedule::stretch);
    std::vector<std::int64_t> steps;
    for (const Event& event : store_->events(longer.run)) {
        if (const auto* epoch = std::get_if<EpochDone>(&event)) steps.push_back(epoch->step);
    }
    EXPECT_THAT(steps, ElementsAre(4, 6, 7));
}

std::vector<float> rates_of(const Ended& run) {
    std::vector<float> out;
    for (std::int64_t i = 0; i < run.record.size(); ++i) out.push_back(run.record.row(i).lr);
    return out;
}

std::vector<float> joined(std::vector<float> a, const std::vector<float>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

RunConfig scheduled(const std::string& kind, std::int64_t steps) {
    RunConfig config = spirals(steps);
    config.precision.preset = "fp32";  // no step is skipped
    config.schedule.kind = kind;
    return completed(config);
}

TEST_F(ResumeLonger, ALongerRunOfAFallingScheduleNeedsAChoice) {
    for (const char* kind : {"one-cycle", "cosine", "polynomial"}) {
        const Ended done = train(scheduled(kind, 10));
        for (const char* change : {"max_steps=20", "max_steps=14"}) {
            const Ended refused = resume(done, "last", {change});
            ASSERT_EQ(refused.all<RunFailed>().size(), 1U) << kind;
            const RunFailed failed = refused.all<RunFailed>()[0];
            EXPECT_EQ(failed.code, ErrorCode::settings);
            EXPECT_THAT(failed.message.str(), HasSubstr("the learning rate jumps from "));
            EXPECT_THAT(failed.hint.str(), HasSubstr("--schedule"));
            EXPECT_EQ(refused.run, "") << "no run was made";
        }
    }
    for (const char* kind : {"constant", "step", "plateau"}) {
        const Ended longer = resume(train(scheduled(kind, 10)), "last", {"max_steps=12"});
        EXPECT_EQ(longer.record.size(), 12) << kind;
    }
    const Ended chosen =
        resume(train(scheduled("cosine", 10)), "last", {"max_steps=12", "schedule.kind=constant"});
    EXPECT_EQ(chosen.record.size(), 12) << "the change itself is a choice";
    EXPECT_EQ(rates_of(chosen)[11], rates_of(chosen)[0]);
}

TEST_F(ResumeLonger, AScheduleIsHeldRepeatedOrStretchedOverAddedSteps) {
    for (const char* kind : {"one-cycle", "cosine", "polynomial"}) {
        const Ended done = train(scheduled(kind, 10));
        const std::vector<float> first = rates_of(done);
        const std::vector<std::string> more = {"max_steps=20"};
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::constant)),
                  joined(first, std::vector<float>(10, first.back())))
            << kind;
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::cycle)), joined(first, first))
            << kind;
        std::vector<float> stretched = rates_of(train(scheduled(kind, 20)));
        std::copy(first.begin(), first.end(), stretched.begin());
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::stretch)), stretched) << kind;
    }
}

TEST_F(ResumeLonger, ALengthenedRunGoesOnAndIsLengthenedOnceMore) {
    const Ended done = train(scheduled("cosine", 10));
    const std::vector<float> first = rates_of(done);
    const Ended twice = resume(done, "last", {"max_steps=20"}, LongerSchedule::cycle);
    EXPECT_EQ(rates_of(resume(twice, "last", {"max_steps=30"}, LongerSchedule::cycle)),
              joined(joined(first, first), first));
    EXPECT_EQ(rates_of(resume(twice, "last", {"max_steps=25"}, LongerSchedule::constant)),
              joined(joined(first, first), std::vector<float>(5, first.back())));
    const Ended held = resume(done, "last", {"max_steps=15"}, LongerSchedule::constant);
    EXPECT_EQ(rates_of(resume(held, "last", {"max_steps=25"}, LongerSchedule::cycle)),
              joined(rates_of(held), first));
    EXPECT_EQ(resume(held, "last", {"max_steps=17"}).record.size(), 17) << "the rate stays anyway";

    // From a checkpoint within the earlier plan the schedule comes to its end first.
    const Ended half = train_to(scheduled("cosine", 10), 5);
    EXPECT_EQ(rates_of(resume(half, "last", {"max_steps=20"}, LongerSchedule::cycle)),
              joined(first, first));
    // The settings of the run hold for its own resume.
    ResumePlan plan = plan_resume(*store_->find(done.run), "last", {"max_steps=20"});
    SessionOptions options;
    options.continuation = plan.continuation;
    options.continuation->schedule = LongerSchedule::cycle;
    Session session(plan.config, thread_, store_, options);
    for (std::int64_t i = 1; i <= 4; ++i) step_to(session, 10 + i);
    session.post(Command::stop);
    ASSERT_TRUE(session.wait(patience_s));
    const Ended stopped{session.run(), store_->find(session.run())->folder, {}, {}, {}};
    EXPECT_EQ(resume(stopped).figures, twice.figures);
}

}  // namespace
}  // namespace engine
