#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/session/session.h"
#include "engine/train/machine.h"
#include "simt/device.h"
#include "temp_folder.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

RunConfig run_on(const std::string& device, std::int64_t batch_size = 32) {
    RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.device = device;
    config.batch_size = batch_size;
    config.max_steps = 12;
    config.threads = 1;
    return config;
}

/// Sessions on one compute thread, on the simulated device.
struct Machine {
    test_support::TempFolder folder;
    std::shared_ptr<RunStore> store = std::make_shared<RunStore>(folder.path());
    std::shared_ptr<ComputeThread> thread = std::make_shared<ComputeThread>();

    ~Machine() {
        kernels::simt::repair();
        release_cached_memory();
    }
    /// Runs to the end. Returns the failure, if there was one.
    std::optional<RunFailed> run(const RunConfig& config) {
        Session session(config, thread, store);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(300));
        std::optional<RunFailed> failure;
        for (const auto& event : session.drain()) {
            if (const auto* failed = std::get_if<RunFailed>(&event)) failure = *failed;
        }
        EXPECT_EQ(session.state(), failure ? RunState::failed : RunState::done);
        if (!failure) {
            EXPECT_EQ(session.record().size(), 12);
        }
        return failure;
    }
};

TEST(DeviceSafety, AFaultEndsItsSessionWithAClearErrorAndTheCpuGoesOn) {
    // Faults in eager steps, in a capture and in replays.
    const std::pair<const char*, int> faults[] = {{"cudaMemcpyAsync", 30}, {"Matmul", 10},
                                                  {"gradient_check", 2},   {"gradient_check", 3},
                                                  {"cudaEventRecord", 15}, {"cudaGraphLaunch", 4}};
    for (const auto& [call, after] : faults) {
        Machine machine;
        EXPECT_FALSE(machine.run(run_on("cuda")).has_value());
        kernels::simt::fail_call(call, after);
        const auto failure = machine.run(run_on("cuda"));
        ASSERT_TRUE(failure.has_value()) << call;
        EXPECT_EQ(failure->code, ErrorCode::device);
        EXPECT_THAT(failure->message.str(), HasSubstr("illegal memory access"));
        EXPECT_FALSE(machine.run(run_on("cpu")).has_value()) << "the CPU is usable";
        EXPECT_FALSE(machine.run(run_on("auto")).has_value()) << "and what auto means";
        const auto again = machine.run(run_on("cuda"));
        ASSERT_TRUE(again.has_value());
        EXPECT_EQ(again->code, ErrorCode::device);
        EXPECT_FALSE(inspect_machine().cuda_present);
    }
}

TEST(DeviceSafety, ACardThatTheProgramHasNoCodeForIsLeftAlone) {
    kernels::simt::configure(kernels::simt::DeviceSettings{.has_code = false});
    const std::string sentence =
        "this program has no code for compute capability 9.0 (Simulated device), 9.0 (Simulated "
        "device)";
    {
        Machine machine;
        EXPECT_FALSE(machine.run(run_on("auto")).has_value());
        const auto failure = machine.run(run_on("cuda"));
        ASSERT_TRUE(failure.has_value());
        EXPECT_EQ(failure->code, ErrorCode::device);
        EXPECT_THAT(failure->message.str(), HasSubstr(sentence));
        const MachineReport report = inspect_machine();
        EXPECT_FALSE(report.cuda_present);
        EXPECT_THAT(report.cuda_note.str(), HasSubstr(sentence));
    }
    kernels::simt::configure(kernels::simt::DeviceSettings{});
}

TEST(DeviceSafety, OutOfMemoryGivesTheSplitAndABatchAndTheNextRunWorks) {
    Machine machine;
    release_cached_memory();
    const std::size_t before = set_memory_limit(std::size_t{8} << 20, {Device::Kind::cuda, 0});
    const auto failure = machine.run(run_on("cuda", 60'000));
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, ErrorCode::memory);
    EXPECT_THAT(failure->message.str(), HasSubstr("in use: "));
    EXPECT_THAT(failure->hint.str(), MatchesRegex("Try batch_size [0-9]+;.*"));
    EXPECT_FALSE(machine.run(run_on("cuda")).has_value());
    set_memory_limit(before, {Device::Kind::cuda, 0});
}

TEST(DeviceSafety, ARunGivesAllItsMemoryBack) {
    {
        Machine machine;
        EXPECT_FALSE(machine.run(run_on("cuda")).has_value());
    }
    release_cached_memory();
    EXPECT_EQ(kernels::simt::pinned_bytes(), 0);
    EXPECT_LE(kernels::simt::device_bytes(), std::int64_t{64} << 20) << "libraries' scratch alone";
}

/// Runs both to their ends, in turns.
void expect_same_run(Session& first, Session& second) {
    first.post(Command::start);
    second.post(Command::start);
    ASSERT_TRUE(first.wait(300));
    ASSERT_TRUE(second.wait(300));
    ASSERT_EQ(first.record().size(), 12);
    ASSERT_EQ(second.record().size(), 12);
    for (std::int64_t i = 0; i < 12; ++i)
        EXPECT_EQ(first.record().row(i).loss, second.record().row(i).loss);
}

TEST(DeviceSafety, RunsOnTwoDevicesTakeTurnsOfOneThread) {
    Machine machine;
    Session first(run_on("cuda:0"), machine.thread, machine.store);
    Session second(run_on("cuda:1"), machine.thread, machine.store);
    expect_same_run(first, second);
    if (HasFatalFailure()) return;
    for (std::int64_t i = 0; i < 12; ++i)
        EXPECT_EQ(first.record().row(i).memory_bytes, second.record().row(i).memory_bytes);
    const auto events = second.drain();
    const auto started = std::find_if(events.begin(), events.end(), [](const Event& event) {
        return std::holds_alternative<RunStarted>(event);
    });
    ASSERT_NE(started, events.end());
    EXPECT_EQ(std::get<RunStarted>(*started).device, "cuda:1");
}

TEST(DeviceSafety, AFullSecondDeviceLeavesTheFirst) {
    Machine machine;
    release_cached_memory();
    const Device second{Device::Kind::cuda, 1};
    const std::size_t before = set_memory_limit(std::size_t{8} << 20, second);
    const auto failure = machine.run(run_on("cuda:1", 60'000));
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, ErrorCode::memory);
    EXPECT_FALSE(machine.run(run_on("cuda:0")).has_value());
    EXPECT_FALSE(machine.run(run_on("cuda:1")).has_value());
    set_memory_limit(before, second);
}

TEST(DeviceSafety, TwoRunsTakeTurnsOnOneDevice) {
    Machine machine;
    Session first(run_on("cuda"), machine.thread, machine.store);
    Session second(run_on("cuda"), machine.thread, machine.store);
    expect_same_run(first, second);
}

}  // namespace
}  // namespace engine
