#include "train/run/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/runs/checkpoint.h"
#include "engine/train/data_parallel.h"
#include "engine/train/trained_model.h"
#include "resume_support.h"
#include "support/damaged_png.h"
#include "support/device_support.h"
#include "support/ranks.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using testing::HasSubstr;

using Order = RunRanks::Order;

TEST(RunRanks, OfOneProcessSendNothing) {
    RunRanks ranks(nullptr);
    EXPECT_EQ(ranks.size(), 1);
    EXPECT_FALSE(ranks.follows());
    double rate = 0.5;
    ranks.share(rate);
    ranks.send(Order::step);
    ranks.leave("failed", /*prepared=*/true, [] { ADD_FAILURE(); });
    EXPECT_EQ(rate, 0.5);
}

TEST(RunRanks, FollowTheOrdersOfRankZeroUntilItLeaves) {
    test::on_ranks(3, [&](const std::shared_ptr<Communicator>& line) {
        RunRanks ranks(line.get());
        EXPECT_EQ(ranks.size(), 3);
        EXPECT_EQ(ranks.follows(), line->rank() > 0);
        double rate = line->rank();
        if (ranks.follows()) {
            std::vector<Order> received;
            ranks.follow([&](Order order) {
                received.push_back(order);
                if (order == Order::evaluate) ranks.share(rate);
            });
            EXPECT_THAT(received, testing::ElementsAre(Order::step, Order::evaluate, Order::count));
        } else {
            ranks.send(Order::step);
            ranks.send(Order::evaluate);
            ranks.share(rate);
            for (int i = 0; i < 2; ++i)  // once
                ranks.leave({}, /*prepared=*/true, [&] { ranks.send(Order::count); });
        }
        EXPECT_EQ(rate, 0);
    });
}

TEST(RunRanks, AFailureEndsTheCallsOfTheOthersWithItsSentence) {
    for (const bool prepared : {true, false}) {
        test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
            RunRanks ranks(line.get());
            if (!ranks.follows())
                return ranks.leave(prepared ? "no memory" : "", prepared, [] { ADD_FAILURE(); });
            try {
                ranks.follow([](Order) { ADD_FAILURE(); });
                ADD_FAILURE();
            } catch (const Error& error) {
                EXPECT_EQ(error.message().str(),
                          prepared ? "no memory" : "The run was stopped before it began.");
            }
        });
    }
}

/// Runs of several ranks, which are threads: rank 0 has the session.
class DataParallelRun : public test::ResumedRuns {
protected:
    /// `stop_after` steps the session is stopped; 0: never.
    Ended train_on(int ranks, RunConfig config, SessionOptions options = {},
                   std::int64_t stop_after = 0) {
        config.workers = ranks;
        if (ranks == 1) return train(config, options, stop_after);
        Ended out;
        test::on_ranks(ranks, [&](const std::shared_ptr<Communicator>& line) {
            SessionOptions own = options;
            own.communicator = line;
            if (line->rank() == 0)
                out = train(config, own, stop_after);
            else
                follow_run(config, own);
        });
        return out;
    }
    Ended resume_on(int ranks, const Ended& run) {
        const ResumePlan plan = plan_resume(*store_->find(run.run), "last",
                                            {"workers=" + std::to_string(ranks), "max_steps=12"});
        EXPECT_THAT(plan.errors, testing::IsEmpty());
        SessionOptions options;
        options.continuation = plan.continuation;
        return train_on(ranks, plan.config, options);
    }
    /// How a run of two ranks fails: on rank 0, which has the session, and on rank 1.
    struct Failure {
        RunFailed session{};
        std::string followed;  ///< what rank 1 threw
    };
    Failure fail_on_two(RunConfig first, RunConfig second) {
        first.workers = second.workers = 2;
        Ended ended;
        Failure out;
        test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
            SessionOptions options;
            options.communicator = line;
            if (line->rank() == 0) {
                ended = train(first, options);
                return;
            }
            try {
                follow_run(second, options);
            } catch (const Error& error) {
                out.followed = error.what();
            }
        });
        const auto failures = ended.all<RunFailed>();
        EXPECT_EQ(failures.size(), 1U);
        if (!failures.empty()) out.session = failures[0];
        return out;
    }
    static RunConfig text_run() {
        RunConfig config = test::small_text_run("fp32");
        config.model.options["layers"] = std::int64_t{2};
        config.model.options["dropout"] = 0.3;
        config.schedule.kind = "constant";  // of which a run of 6 steps has the same beginning
        config.max_steps = 12;
        return config;
    }
};

void expect_near(const StepRecordReader& found, const StepRecordReader& wanted, double bound) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
        const StepRecord row = found.row(i), other = wanted.row(i);
        EXPECT_NEAR(row.loss, other.loss, bound * other.loss) << i;
        EXPECT_EQ(row.samples, other.samples) << i;
        EXPECT_EQ(row.epoch, other.epoch) << i;
        EXPECT_EQ(row.updates, other.updates) << i;
        EXPECT_EQ(row.lr, other.lr) << i;
    }
}

TEST_F(DataParallelRun, TrainsEvaluatesAndEndsLikeOneProcess) {
    RunConfig config = test::small_run("lenet", "fp32");
    config.dataset.train_limit = 70;  // the last batch of an epoch is not full
    config.dataset.test_limit = 19;
    config.dataset.validation_share = 0.2;
    config.epochs = 2;
    const Ended one = train_on(1, config);
    for (const int ranks : {2, 4}) {
        const Ended many = train_on(ranks, config);
        ASSERT_EQ(many.all<RunDone>().size(), 1U) << ranks;
        EXPECT_EQ(many.all<RunDone>()[0].reason, DoneReason::epochs);
        EXPECT_EQ(many.all<RunStarted>().size(), 1U);
        // Ten updates multiply the rounding of the first by no more than a hundred.
        expect_near(many.record, one.record, 1e-4);
        const auto wanted = one.all<EpochDone>(), found = many.all<EpochDone>();
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            EXPECT_NEAR(found[i].test.loss, wanted[i].test.loss, 1e-4 * wanted[i].test.loss);
            EXPECT_NEAR(found[i].validation.loss, wanted[i].validation.loss,
                        1e-4 * wanted[i].validation.loss);
            EXPECT_NEAR(found[i].test.of("accuracy"), wanted[i].test.of("accuracy"), 1.01 / 19);
        }
        EXPECT_FALSE(std::isnan(many.record.row(2).exchange_hidden_share));
        EXPECT_EQ(store_->list().size(), ranks == 2 ? 2U : 3U) << "one run";
    }
}

TEST_F(DataParallelRun, GoesOnAfterAnEvaluationOnRequestAtAnEpochsEndThatHasNone) {
    RunConfig config = test::small_run("mlp", "fp32");
    config.dataset.train_limit = 48;
    config.dataset.test_limit = 32;
    config.epochs = 2;
    config.evaluation.every_epochs = 0;
    const Ended one = train_on(1, config);
    config.workers = 2;
    test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
        SessionOptions options;
        options.communicator = line;
        if (line->rank() > 0) return follow_run(config, options);
        Session session(config, thread_, store_, options);
        for (int i = 1; i <= 3; ++i) step_to(session, i);
        session.post(Command::validate_now);
        std::vector<EpochDone> seen;
        const auto take = [&] {
            for (const Event& event : session.drain())
                if (const auto* epoch = std::get_if<EpochDone>(&event)) seen.push_back(*epoch);
            return seen.size();
        };
        EXPECT_TRUE(test::comes_true(
            [&] { return take() == 2 && session.state() == RunState::paused; }));
        session.post(Command::resume);
        EXPECT_TRUE(session.wait(test::patience_s));
        EXPECT_EQ(session.state(), RunState::done);
        EXPECT_EQ(take(), 3U);
        EXPECT_FALSE(seen.at(0).evaluated);
        EXPECT_FALSE(seen.at(1).epoch_ended);
        expect_near(session.record(), one.record, 1e-4);
    });
}

TEST_F(DataParallelRun, OneRankHasTheColumnsOfItsExchange) {
    test::on_ranks(1, [&](const std::shared_ptr<Communicator>& line) {
        SessionOptions options;
        options.communicator = line;
        RunConfig config = text_run();
        config.max_steps = 2;
        EXPECT_FALSE(std::isnan(train(config, options).record.row(1).exchange_ms));
    });
}

TEST_F(DataParallelRun, GoesOnFromItsCheckpointWithAnotherNumberOfRanks) {
    const Ended whole = train_on(1, text_run());
    RunConfig half = text_run();
    half.max_steps = 6;
    for (const int before : {1, 2}) {
        const Ended stopped = train_on(before, half);
        for (const int after : {1, 2, 4}) {
            SCOPED_TRACE(std::to_string(before) + " ranks, then " + std::to_string(after));
            const Ended resumed = resume_on(after, stopped);
            expect_near(resumed.record, whole.record, 1e-4);
        }
    }
}

TEST_F(DataParallelRun, StopsOnAllRanksAndKeepsACheckpoint) {
    RunConfig config = text_run();
    config.max_steps = 0;
    config.epochs = 1000;
    const Ended stopped = train_on(3, config, {}, 5);
    ASSERT_EQ(stopped.all<RunDone>().size(), 1U);
    EXPECT_EQ(stopped.all<RunDone>()[0].reason, DoneReason::stopped);
    EXPECT_EQ(find_checkpoint(stopped.folder, "last").step, stopped.record.size());
}

TEST_F(DataParallelRun, EndsOnAllRanksWithTheSentenceOfTheOneThatFails) {
    RunConfig broken = text_run();
    broken.dataset.train_limit = 1500;  // another text
    const Failure failure = fail_on_two(text_run(), broken);
    EXPECT_THAT(failure.session.message.str(), HasSubstr("Rank 1 has another data set"));
    EXPECT_EQ(failure.session.code, ErrorCode::training);
    EXPECT_THAT(failure.followed, HasSubstr("Rank 1 has another data set"));
}

TEST_F(DataParallelRun, FailsOnAllRanksWhenTheScaleFallsThroughItsFloor) {
    RunConfig config = test::small_run("mlp", "amp-fp16");
    config.scaler.init_scale = 65536;
    config.scaler.min_scale = 65536;
    config.optimizer.options["lr"] = 1e30;
    const Failure failure = fail_on_two(config, config);
    EXPECT_FALSE(failure.followed.empty());
    EXPECT_EQ(failure.followed, failure.session.message.str());
}

TEST_F(DataParallelRun, AnotherNumberOfProcessesThanWorkersIsRefused) {
    RunConfig config = text_run();
    config.workers = 4;
    EXPECT_THROW(Session(config, thread_, store_), Error);
    test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
        SessionOptions options;
        options.communicator = line;
        EXPECT_THROW(follow_run(config, options), Error);
    });
}

TEST_F(DataParallelRun, ASessionThatIsDroppedEndsThoseThatWait) {
    RunConfig config = text_run();
    config.workers = 2;
    test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
        SessionOptions options;
        options.communicator = line;
        if (line->rank() == 0) {
            const Session dropped(config, thread_, store_, options);
        } else {
            EXPECT_THROW(follow_run(config, options), Error);
        }
    });
}

/// Pictures of which some are damaged inside, as only decoding shows.
class DamagedPictures : public DataParallelRun {
protected:
    void SetUp() override { add_pictures("pictures", true); }
    void add_pictures(const fs::path& folder, bool with_damage) {
        for (const std::string part : {"train", "val"})
            for (const std::string name : {"ants", "bees"})
                for (int i = 0; i < (part == "train" ? 10 : 2); ++i)
                    write(folder / part / name / (std::to_string(i) + ".png"),
                          with_damage && (i == 1 || (part == "train" && i == 7 && name == "bees")));
    }
    void write(const fs::path& name, bool damaged) {
        Picture picture{16, 16, {}};
        const auto seed = static_cast<int>(std::hash<std::string>()(name.string()) % 97);
        for (int i = 0; i < 16 * 16 * 3; ++i)
            picture.rgb.push_back(static_cast<std::uint8_t>((i * (seed + 3)) % 251));
        const fs::path file = folder_ / name;
        fs::create_directories(file.parent_path());
        save_picture(file, picture);
        if (!damaged) return;
        std::ifstream in(file, std::ios::binary);
        std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
        folder_.write(name.string(), test::with_damaged_pixels(std::move(bytes)));
    }
    RunConfig damaged_run() const {
        RunConfig config = test::small_run("lenet", "fp32");
        config.dataset = DatasetConfig();
        config.dataset.kind = "image-folder";
        config.dataset.path = {(folder_ / "pictures").string()};
        config.dataset.options["image_size"] = std::int64_t{16};
        config.batch_size = 4;
        config.accumulate = 1;
        config.epochs = 2;
        config.max_steps = 0;
        config.threads = 2;
        return config;
    }
    static constexpr std::int64_t damaged_in_training = 3;
};

TEST_F(DamagedPictures, AreReplacedByTheNextOfTheOrderToldAndCounted) {
    const Ended ended = train(damaged_run());
    const auto done = ended.all<RunDone>();
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].reason, DoneReason::epochs);
    EXPECT_EQ(done[0].steps, 10);
    EXPECT_EQ(done[0].replaced_samples, 2 * damaged_in_training);
    std::int64_t skipped = 0, left_out = 0;
    for (const RunWarning& warning : ended.all<RunWarning>()) {
        const std::string text = warning.message.str();
        if (text.find("damaged sample") == std::string::npos) continue;
        EXPECT_THAT(text, HasSubstr(".png"));
        ++(text.find("left out of the evaluation") == std::string::npos ? skipped : left_out);
    }
    EXPECT_EQ(skipped, damaged_in_training) << "each once";
    EXPECT_EQ(left_out, 2);
}

TEST_F(DamagedPictures, AreLeftOutOfEvaluationsSoThatNoOtherSampleCountsTwice) {
    const Ended damaged = train(damaged_run());
    const PartReport report = TrainedModel(damaged.folder).evaluate("test");
    EXPECT_EQ(report.samples, 2);
    ASSERT_EQ(report.hardest.size(), 2U);
    for (const HardSample& sample : report.hardest) {
        EXPECT_EQ(sample.index % 2, 0) << "the second of each class is damaged";
        EXPECT_FALSE(sample.picture.rgb.empty());
    }
    EXPECT_THAT(report.notes.front().str(), HasSubstr("left out: 2"));
    for (const std::string name : {"ants", "bees"})
        fs::remove(folder_ / "pictures" / "val" / name / "1.png");
    const Ended without = train(damaged_run());
    const auto wanted = without.all<EpochDone>(), found = damaged.all<EpochDone>();
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(found[i].test.loss, wanted[i].test.loss) << i;
        EXPECT_EQ(found[i].test.of("accuracy"), wanted[i].test.of("accuracy")) << i;
        EXPECT_TRUE(std::isfinite(wanted[i].test.loss));
    }
}

/// Counts the exchanges of a single whole number.
class CountingLine final : public Communicator {
public:
    CountingLine(std::shared_ptr<Communicator> line, std::int64_t& count)
        : line_(std::move(line)), count_(count) {}

    int rank() const override { return line_->rank(); }
    int size() const override { return line_->size(); }
    int local_rank() const override { return line_->local_rank(); }
    void broadcast(kernels::Array data) override { line_->broadcast(data); }
    void sum(kernels::Array data) override {
        count_ += data.dtype == kernels::DType::i64 && data.size == 1 ? 1 : 0;
        line_->sum(data);
    }
    void gather(kernels::Array all, kernels::ConstArray part,
                std::span<const std::int64_t> counts) override {
        line_->gather(all, part, counts);
    }
    void barrier() override { line_->barrier(); }
    std::unique_ptr<Communicator> line() override { return line_->line(); }
    void abort(const std::string& sentence) noexcept override { line_->abort(sentence); }
    void when_lost(std::function<void(const Message&)> act) override {
        line_->when_lost(std::move(act));
    }

private:
    std::shared_ptr<Communicator> line_;
    std::int64_t& count_;
};

TEST_F(DamagedPictures, AreCountedOverAllRanksOnceAnEpochAndNotInEachStep) {
    add_pictures("sound", false);
    std::map<std::string, std::int64_t> exchanges;
    for (const std::string how : {"skip", "stop"}) {
        RunConfig config = damaged_run();
        config.dataset.path = {(folder_ / "sound").string()};
        config.dataset.options["damaged"] = how;
        config.workers = 2;
        test::on_ranks(2, [&](const std::shared_ptr<Communicator>& line) {
            SessionOptions options;
            options.communicator = line;
            if (line->rank() != 0) return follow_run(config, options);
            options.communicator = std::make_shared<CountingLine>(line, exchanges[how]);
            const auto done = train(config, options).all<RunDone>();
            ASSERT_EQ(done.size(), 1U);
            EXPECT_EQ(done[0].steps, 10);
        });
    }
    // Two evaluations, their best checkpoints, one at the end, and the end.
    EXPECT_LE(exchanges["skip"] - exchanges["stop"], 6);
}

TEST_F(DamagedPictures, AreTheSameInAResumedRunAndOnTwoRanks) {
    const Ended whole = train(damaged_run());
    const Ended resumed = resume(train_to(damaged_run(), 3));
    expect_same_end(whole, resumed);
    EXPECT_EQ(resumed.all<RunDone>()[0].replaced_samples, 2 * damaged_in_training);
    const Ended two = train_on(2, damaged_run());
    EXPECT_EQ(two.all<RunDone>()[0].replaced_samples, 2 * damaged_in_training);
    const auto losses = test::losses_of(whole.record), shared = test::losses_of(two.record);
    ASSERT_EQ(shared.size(), losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(shared[i], losses[i], 1e-4) << i;
}

TEST_F(DamagedPictures, StopARunThatAsksForItUntilItIsResumedWithoutThat) {
    RunConfig config = damaged_run();
    config.dataset.options["damaged"] = std::string("stop");
    config.checkpoint.every_steps = 1;
    const Ended stopped = train(config);
    const auto failures = stopped.all<RunFailed>();
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_THAT(failures[0].hint.str(), HasSubstr("--set dataset.damaged=skip"));
    const Ended resumed = resume(stopped, "last", {"dataset.damaged=skip"});
    EXPECT_EQ(resumed.all<RunDone>()[0].reason, DoneReason::epochs);
}

}  // namespace
}  // namespace engine
