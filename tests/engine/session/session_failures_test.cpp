#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "io/file/lease.h"
#include "runs/run_folder.h"
#include "support/patience.h"
#include "temp_folder.h"
#include "tensor/check_values.h"
#include "tensor/device.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

RunConfig spirals(std::int64_t batch_size, std::vector<std::int64_t> hidden) {
    RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.model.options["hidden"] = std::move(hidden);
    config.batch_size = batch_size;
    config.max_steps = 20;
    config.threads = 1;
    return config;
}

/// A run that is expected to fail, and at the same time one that is not.
struct TwoHalves {
    test_support::TempFolder folder;
    std::shared_ptr<RunStore> store = std::make_shared<RunStore>(folder.path());
    std::shared_ptr<ComputeThread> thread = std::make_shared<ComputeThread>();
    std::vector<RunWarning> warnings;  // of the failing run
    std::vector<RunFailed> failures;

    void run(const RunConfig& failing, const SessionOptions& options = {}) {
        Session bad(failing, thread, store, options), good(spirals(32, {8}), thread, store);
        bad.post(Command::start);
        good.post(Command::start);
        ASSERT_TRUE(bad.wait(patience_s));
        ASSERT_TRUE(good.wait(patience_s));
        EXPECT_EQ(bad.state(), RunState::failed);
        EXPECT_EQ(good.state(), RunState::done) << "the neighbour lives on";
        EXPECT_EQ(good.record().size(), 20);
        for (const auto& event : bad.drain()) {
            if (const auto* warning = std::get_if<RunWarning>(&event)) warnings.push_back(*warning);
            if (const auto* failed = std::get_if<RunFailed>(&event)) failures.push_back(*failed);
        }
        ASSERT_EQ(failures.size(), 1U);
        EXPECT_FALSE(failures[0].hint.empty());
    }
};

/// Limits memory to less than the device of the runs has.
class SmallMachine {
public:
    explicit SmallMachine(std::size_t mib) {
        release_cached_memory();
        before_ = set_memory_limit(mib << 20, device_);
    }
    ~SmallMachine() { set_memory_limit(before_, device_); }
    SmallMachine(const SmallMachine&) = delete;
    SmallMachine& operator=(const SmallMachine&) = delete;

private:
    const Device device_ = resolve_device("auto");
    std::size_t before_ = 0;
};

TEST(SessionFailures, OutOfMemoryNamesABatchToTryAndTheNeighbourLivesOn) {
    TwoHalves halves;
    const SmallMachine machine(96);
    halves.run(spirals(60'000, {1024}));  // 234 MiB for one layer's output
    EXPECT_EQ(halves.failures[0].code, ErrorCode::memory);
    EXPECT_THAT(halves.failures[0].message.str(), HasSubstr("in use: weights"));
    EXPECT_THAT(halves.failures[0].hint.str(), MatchesRegex("Try batch_size [0-9]+;.*"));
    const std::int64_t size = std::stoll(halves.failures[0].hint.args.at(0));
    EXPECT_GE(size, 1);
    EXPECT_LE(size, 30'000) << "half of what failed, or less";
}

TEST(SessionFailures, AModelThatCannotFitIsRefusedBeforeItsWeightsAreDrawn) {
    const SmallMachine machine(64);
    // 16 MiB of weights are four times that with gradients and AdamW's state. Then 256 MiB of
    // weights.
    for (const std::int64_t size : {2048, 8192}) {
        TwoHalves halves;
        RunConfig config = spirals(32, {size, size});
        config.optimizer.kind = "adamw";
        halves.run(config);
        EXPECT_EQ(halves.failures[0].code, ErrorCode::memory);
        EXPECT_THAT(halves.failures[0].message.str(),
                    HasSubstr(size == 2048 ? "parameters, which need 64 MiB"
                              // Counted on the host, which has enough memory.
                              : resolve_device("auto").kind == Device::Kind::cuda
                                  ? "parameters, which need 1024 MiB"
                                  : "weights alone"));
        EXPECT_THAT(halves.failures[0].hint.str(), HasSubstr("layers smaller"));
    }
}

// No data set passes an invalid label on, so the test records an error on the device itself while
// the run is paused: the next step reports it as its own.
TEST(SessionFailures, AValueThatTheGpuRefusesEndsTheRunWithItsWordsOneStepLate) {
    const Device device = resolve_device("auto");
    if (device.kind == Device::Kind::cpu) GTEST_SKIP() << "the CPU throws at once";
    TwoHalves halves;
    RunConfig config = spirals(32, {8});
    config.max_steps = 0;
    Session session(config, halves.thread, halves.store);
    const auto wait_for = [&](RunState state) {
        return comes_true([&] { return session.state() == state; });
    };
    session.post(Command::step);
    ASSERT_TRUE(wait_for(RunState::paused));
    ASSERT_EQ(session.record().size(), 1);
    check_whole_values({"embedding: index ", " is out of range for a dimension of 5"},
                       Tensor::of({1, 7}, {2}, DType::i64, device), 0, 4);
    session.post(Command::resume);
    ASSERT_TRUE(wait_for(RunState::failed));
    std::vector<RunFailed> failures;
    for (const auto& event : session.drain()) {
        if (const auto* failed = std::get_if<RunFailed>(&event)) failures.push_back(*failed);
    }
    ASSERT_THAT(failures, SizeIs(1));
    EXPECT_EQ(failures[0].code, ErrorCode::value);
    EXPECT_EQ(failures[0].message.str(), "embedding: index 7 is out of range for a dimension of 5");
    EXPECT_EQ(session.record().size(), 3) << "that step, and the one given before it was told";
}

/// Simulates a full disk by a limit on file sizes, as long as the object lives.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
};

constexpr std::int64_t rows_that_fit = 512;  // the first chunk of the record

/// A run that pauses when the row after those no longer fits.
std::unique_ptr<Session> paused_by_a_full_disk(const TwoHalves& halves, std::int64_t max_steps) {
    RunConfig config = spirals(32, {8});
    config.device = "cpu";
    config.epochs = 1000;
    config.max_steps = max_steps;
    SessionOptions options;
    options.pause_when_disk_full = true;
    auto session = std::make_unique<Session>(config, halves.thread, halves.store, options);
    session->post(Command::start);
    EXPECT_TRUE(comes_true([&] { return session->state() == RunState::paused; }));
    EXPECT_EQ(session->record().size(), rows_that_fit);
    return session;
}

TEST(SessionFailures, ARunPausedByAFullDiskStopsWhenAsked) {
    const TwoHalves halves;
    const FullDisk full(200'000);
    const auto session = paused_by_a_full_disk(halves, 5000);
    (void)session->drain();
    session->post(Command::stop);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_EQ(session->state(), RunState::done);
    EXPECT_LE(session->drain().size(), 8U) << "it does not try again and again";
}

TEST(SessionFailures, ARunPausedByAFullDiskAtItsLastStepEndsThereOnceThereIsRoom) {
    const TwoHalves halves;
    std::unique_ptr<Session> session;
    {
        const FullDisk full(200'000);
        session = paused_by_a_full_disk(halves, rows_that_fit + 1);
    }
    session->post(Command::start);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_EQ(session->state(), RunState::done);
    EXPECT_EQ(session->record().size(), rows_that_fit + 1);
}

/// An endless run and another one. `damage` changes the folder of the first, which must end it
/// while the second continues. Returns how the first failed.
RunFailed failure_after(const TwoHalves& halves,
                        const std::function<void(const std::filesystem::path&)>& damage) {
    RunConfig config = spirals(32, {8});
    config.device = "cpu";
    config.max_steps = 0;
    config.epochs = 1'000'000;
    Session bad(config, halves.thread, halves.store), good(config, halves.thread, halves.store);
    bad.post(Command::start);
    good.post(Command::start);
    EXPECT_TRUE(comes_true([&] { return bad.record().size() > 600; }));
    damage(halves.folder / bad.run());
    EXPECT_TRUE(bad.wait(patience_s));
    EXPECT_EQ(bad.state(), RunState::failed);
    const std::int64_t then = good.record().size();
    EXPECT_TRUE(comes_true([&] { return good.record().size() > then + 10; }))
        << "the neighbour lives on";
    std::vector<RunFailed> failures;
    for (const auto& event : bad.drain()) {
        if (const auto* failed = std::get_if<RunFailed>(&event)) failures.push_back(*failed);
    }
    EXPECT_THAT(failures, SizeIs(1));
    return failures.empty() ? RunFailed{} : failures[0];
}

TEST(SessionFailures, ARecordThatAnotherProgramCutsShortEndsItsRunAlone) {
    for (const std::uintmax_t length : {0, 4096, 60'000}) {
        const TwoHalves halves;
        const RunFailed failed = failure_after(halves, [&](const std::filesystem::path& folder) {
            std::filesystem::resize_file(folder / "steps.rec", length);
        });
        EXPECT_EQ(failed.code, ErrorCode::data);
        EXPECT_THAT(failed.message.str(), HasSubstr("steps.rec"));
    }
}

TEST(SessionFailures, ARecordThatAnotherProgramRemovesEndsItsRun) {
    const TwoHalves halves;
    const RunFailed failed = failure_after(halves, [&](const std::filesystem::path& folder) {
        std::filesystem::remove(folder / "steps.rec");
    });
    EXPECT_EQ(failed.code, ErrorCode::data);
}

TEST(SessionFailures, AFolderThatIsDeletedEndsItsRunAloneAndIsNamed) {
    const TwoHalves halves;
    std::string folder;
    const RunFailed failed = failure_after(halves, [&](const std::filesystem::path& of_run) {
        folder = of_run.string();
        std::filesystem::remove_all(of_run);
    });
    EXPECT_EQ(failed.code, ErrorCode::data);
    EXPECT_THAT(failed.message.str(), HasSubstr(folder + ": the folder of the run was deleted"));
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(SessionFailures, WhatFailsBeforeThereIsARunSaysOnlyWhy) {
    TwoHalves halves;
    RunConfig config = spirals(32, {8});
    config.device = "cuda:7";
    halves.run(config);
    EXPECT_EQ(halves.failures[0].code, ErrorCode::device);
    EXPECT_THAT(halves.warnings, IsEmpty());
    EXPECT_THAT(halves.store->list(), SizeIs(1)) << "the neighbour's run alone";
}

TEST(SessionFailures, AFolderThatHoldsSomethingIsAMistakeInTheSettings) {
    TwoHalves halves;
    std::filesystem::create_directories(halves.folder / "mine" / "thesis");
    SessionOptions options;
    options.folder = halves.folder / "mine";
    halves.run(spirals(32, {8}), options);
    EXPECT_EQ(halves.failures[0].code, ErrorCode::settings);
    EXPECT_THAT(halves.failures[0].message.str(), HasSubstr("is not empty"));
    EXPECT_THAT(halves.warnings, IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(halves.folder / "mine" / "thesis"));
}

TEST(SessionFailures, PicturesThatCannotBeWrittenCostNothingElse) {
    RunConfig config;
    config.dataset.train_limit = 32;  // 2 steps per epoch, with pictures after each
    config.dataset.test_limit = 16;
    config.model.kind = "autoencoder";
    config.model.options["channels"] = std::int64_t{4};
    config.batch_size = 16;
    config.epochs = 2;
    config.threads = 1;
    const test_support::TempFolder folder;
    const auto store = std::make_shared<RunStore>(folder.path());
    Session session(config, std::make_shared<ComputeThread>(), store);
    session.post(Command::step);
    ASSERT_TRUE(comes_true([&] { return session.state() == RunState::paused; }));
    std::ofstream(store->find(session.run())->folder / "samples") << "no folder";
    session.post(Command::resume);
    ASSERT_TRUE(session.wait(patience_s));
    EXPECT_EQ(session.state(), RunState::done);
    EXPECT_EQ(session.record().size(), 4);
    int warnings = 0;
    for (const auto& event : session.drain()) {
        const auto* warning = std::get_if<RunWarning>(&event);
        warnings +=
            warning != nullptr && warning->message.str().find("samples") != std::string::npos;
    }
    EXPECT_EQ(warnings, 2) << "one for each epoch";
}

TEST(SessionFailures, WeightsFromAFileThatHoldsNoneAreADataError) {
    TwoHalves halves;
    RunConfig config = spirals(32, {8});
    config.model.init_from = (halves.folder / "runs.db").string();
    halves.run(config);
    EXPECT_EQ(halves.failures[0].code, ErrorCode::data);
    EXPECT_THAT(halves.failures[0].message.str(), HasSubstr("runs.db"));
}

/// Another program resumes the run, as it may after this one slept.
TEST(SessionFailures, ARunThatWasTakenOverIsWrittenNoMore) {
    std::atomic<double> clock{1000};
    LeaseRules rules = LeaseRules::standard();
    rules.holder_clock = [&clock] { return clock.load(); };
    LeaseRules::replace(&rules);
    const test_support::TempFolder folder;
    const auto store = std::make_shared<RunStore>(folder.path());
    const auto thread = std::make_shared<ComputeThread>();
    for (const Command then : {Command::start, Command::stop}) {
        RunConfig config = spirals(32, {8});
        config.max_steps = 1'000'000;
        config.epochs = 1'000'000;
        config.checkpoint.best = false;  // only that of the end: none is being written in the pause
        Session session(config, thread, store);
        session.post(Command::start);
        ASSERT_TRUE(comes_true([&] { return session.record().size() >= 20; }));
        session.post(Command::pause);
        ASSERT_TRUE(comes_true([&] { return session.state() == RunState::paused; }));
        const std::filesystem::path run = folder / session.run();
        const std::string events = read_text(run / events_file);
        const std::int64_t rows = session.record().size();
        // Its own lease does not count: a renewal during which the clock jumps gives it up.
        const auto names = [&run] {
            std::set<std::string> out;
            for (const auto& entry : std::filesystem::directory_iterator(run)) {
                const std::string name = entry.path().filename().string();
                if (!name.starts_with("lease.1")) out.insert(name);
            }
            return out;
        };
        // A thread of its own writes into the lease that the run is paused.
        const auto is_told = [&run] {
            return read_text(run / "lease.1").find("paused") != std::string::npos;
        };
        ASSERT_TRUE(comes_true(is_told));
        std::ofstream(run / "lease.2") << "of another program";
        const auto before = names();
        clock = clock + 61;
        session.post(then);
        ASSERT_TRUE(session.wait(patience_s));
        EXPECT_EQ(session.record().size(), rows);
        EXPECT_EQ(read_text(run / events_file), events) << "no end, no checkpoint";
        EXPECT_EQ(names(), before);
        std::string told;
        for (const auto& event : session.drain()) {
            if (const auto* warning = std::get_if<RunWarning>(&event))
                told += warning->message.str();
            if (const auto* failed = std::get_if<RunFailed>(&event)) told += failed->message.str();
        }
        EXPECT_THAT(told, HasSubstr("has taken over this run"));
    }
    LeaseRules::replace(nullptr);
}

}  // namespace
}  // namespace engine
