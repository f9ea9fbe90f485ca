#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "program.h"
#include "spirals.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::function<void()> with_output_to(const char* file) {
    return [file] {
        const int output = ::open(file, O_WRONLY);
        ::dup2(output, STDOUT_FILENO);
    };
}

TEST(BadInput, ADeviceThatIsNotThereExitsWith4AndOneError) {
    for (const std::string command : {"train", "bench"}) {
        Program program(spirals(command, {"--set", "device=cuda:7"}));
        program.finish();
        EXPECT_EQ(program.exit_code(), 4) << command;
        EXPECT_THAT(program.errors(), HasSubstr("cuda:7"));
        EXPECT_THAT(program.errors(), HasSubstr("Set device to cpu or auto."));
        EXPECT_THAT(events_of(program, "warning"), IsEmpty());
    }
}

TEST(BadInput, AModelBeyondTheMemoryExitsWith4) {
    for (const std::string command : {"train", "bench"}) {
        Program program(spirals(command, {"--set",
                                          "model.options.hidden=[65536,65536,65536,65536,"
                                          "65536,65536,65536,65536,65536,65536,65536]"}));
        program.finish();
        EXPECT_EQ(program.exit_code(), 4) << command;
        EXPECT_THAT(program.errors(), HasSubstr("Make the layers smaller."));
    }
}

TEST(BadInput, ABatchBeyondTheMemoryIsRefusedByBench) {
    Program program({"bench", "--set", "dataset.kind=cifar10", "--set", "dataset.path=/anywhere",
                     "--set", "batch_size=1000000", "--set", "accumulate=1000000"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 4);
    EXPECT_THAT(program.errors(), HasSubstr("A step on 1000000000000 samples needs "));
    EXPECT_THAT(program.errors(), HasSubstr("Try a smaller batch."));
}

TEST(BadInput, AnEmptyArgumentIsAUsageErrorAndNotTheDefault) {
    using Args = std::vector<std::string>;
    for (const Args& args : {Args{"train", ""}, Args{"train", "--out", ""}, Args{"compare", ""},
                             Args{"compare", "--out", ""}, Args{"bench", ""}, Args{"show", ""}}) {
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << args.front();
        EXPECT_THAT(program.errors(), HasSubstr("must not be empty")) << args.front();
        EXPECT_THAT(program.output(), IsEmpty()) << args.front();
    }
}

TEST(BadInput, SettingsThatAreNoRegularFileAreRefused) {
    const test_support::TempFolder folder;
    const std::string pipe = (folder / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& file : {pipe, std::string("/dev/zero"), folder.str()}) {
        Program program({"train", file});
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << file;
        EXPECT_THAT(program.errors(), HasSubstr(file + ": use a JSON file")) << file;
    }
}

TEST(BadInput, DataAndWeightsThatAreNoRegularFileExitWith3) {
    const test_support::TempFolder folder;
    const std::string pipe = (folder / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& file : {pipe, std::string("/dev/zero")}) {
        Program data({"train", "--set", "dataset.kind=mnist", "--set", "dataset.path=" + file});
        data.finish();
        EXPECT_EQ(data.exit_code(), 3) << file;
        EXPECT_THAT(data.errors(), HasSubstr("neither a file nor a folder")) << file;
        Program weights(spirals("train", {"--set", "model.init_from=" + file}));
        weights.finish();
        EXPECT_EQ(weights.exit_code(), 3) << file;
        EXPECT_THAT(weights.errors(), HasSubstr("it is not a regular file")) << file;
    }
}

TEST(BadInput, AFolderThatCannotBeWrittenExitsWith2) {
    for (const std::string folder : {"/proc/halftone", "/dev/null/run", "/dev/null"}) {
        Program program(spirals("train", {"--set", "max_steps=2", "--out", folder}));
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << folder;
        EXPECT_THAT(program.errors(), HasSubstr(folder + ": cannot be the folder of a run"));
        EXPECT_THAT(program.errors(), Not(HasSubstr("raining")));
    }
}

TEST(BadInput, CompareRefusesAPrecisionThatTheDeviceLacksBeforeAnythingTrains) {
    Program program(spirals("compare", {"--precision", "fp32,tf32"}),
                    {"", [] { ::setenv("CUDA_VISIBLE_DEVICES", "", 1); }});
    program.finish();
    EXPECT_EQ(program.exit_code(), 4);
    EXPECT_THAT(program.errors(), HasSubstr("TF32 needs an NVIDIA Ampere or newer GPU"));
    EXPECT_THAT(program.output(), IsEmpty());
    EXPECT_FALSE(fs::exists(program.runs()));
}

TEST(BadInput, AComparisonsOtherHalfRunsOnWhenOneCannotStart) {
    Program program(spirals("compare", {"--set", "max_steps=3", "--out", "halves"}),
                    {"", [] {
                         fs::current_path(std::getenv("XDG_DATA_HOME"));
                         fs::create_directories("halves/fp32/thesis");
                     }});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    const auto done = events_of(program, "done");
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].at("run"), "amp-fp16");
    EXPECT_EQ(events_of(program, "error").size(), 1U);
    EXPECT_THAT(program.errors(), HasSubstr("halves/fp32: the folder for the run is not empty"));
}

TEST(BadInput, SeedsBeyondTheLargestAreRefusedBeforeAnythingRuns) {
    Program program(spirals("compare", {"--seeds", "3", "--set", "seed=9223372036854775806"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), StartsWith("seed: 9223372036854775806: use a whole number"));
    EXPECT_THAT(program.output(), IsEmpty());
}

/// Writes an IDX file with this many images or labels.
void write_idx(const fs::path& file, std::uint8_t rank, char count) {
    std::string bytes = {'\0', '\0', '\x08', static_cast<char>(rank), '\0', '\0', '\0', count};
    if (rank == 3) bytes += std::string("\0\0\0\x1c\0\0\0\x1c", 8);
    const std::size_t values = static_cast<std::size_t>(count) * (rank == 3 ? 28 * 28 : 1);
    for (std::size_t i = 0; i < values; ++i) bytes += static_cast<char>(i % 10);
    std::ofstream(file, std::ios::binary) << bytes;
}

TEST(BadInput, DataFilesThatVanishOrShrinkWhileTrainingAreNotMissed) {
    const test_support::TempFolder data;
    for (const std::string set : {"train", "t10k"}) {
        write_idx(data / (set + "-images-idx3-ubyte"), 3, 100);
        write_idx(data / (set + "-labels-idx1-ubyte"), 1, 100);
    }
    Program program({"train", "--json", "--set", "dataset.kind=mnist", "--set",
                     "dataset.path=" + data.str(), "--set", "batch_size=20", "--set",
                     "epochs=1000000"});
    std::string line;
    while (program.read_line(line) && line.find("\"step\":5,") == std::string::npos) {
    }
    fs::resize_file(data / "train-images-idx3-ubyte", 100);
    fs::remove(data / "t10k-images-idx3-ubyte");
    fs::remove(data / "train-labels-idx1-ubyte");
    while (program.read_line(line) && line.find("\"step\":25,") == std::string::npos) {
    }
    program.signal(SIGINT);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_EQ(events_of(program, "done").at(0).at("reason"), "stopped");
    EXPECT_GE(events_of(program, "step").size(), 25U);
    EXPECT_THAT(program.errors(), IsEmpty());
}

TEST(BadInput, AFolderOrADeviceInPlaceOfAScriptOfOperationsExitsWith3) {
    for (const std::string place : {"/", "/dev/zero"}) {
        Program program({"op", "--script", place});
        program.finish();
        EXPECT_EQ(program.exit_code(), 3);
        EXPECT_THAT(program.errors(), HasSubstr("the script cannot be read"));
    }
}

TEST(BadInput, NoPlaceForRunsAtAllExitsWith3AndNamesTheHome) {
    Program program(spirals("train", {"--set", "max_steps=2"}),
                    {"/proc/halftone", [] { ::setenv("TMPDIR", "/no/such/folder", 1); }});
    program.finish();
    EXPECT_EQ(program.exit_code(), 3);
    EXPECT_THAT(program.errors(), HasSubstr("/proc/halftone"));
    EXPECT_THAT(program.errors(), HasSubstr("Give a folder that can be written."));
}

TEST(BadInput, AFullDiskUnderTheOutputIsNoSuccess) {
    if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    for (const auto& args :
         {spirals("train", {"--set", "max_steps=3"}), std::vector<std::string>{"models", "--json"},
          std::vector<std::string>{"--help"}, std::vector<std::string>{"train", "--help"},
          std::vector<std::string>{"--version"}}) {
        Program program(args, {"", with_output_to("/dev/full")});
        program.finish();
        EXPECT_EQ(program.exit_code(), 3) << args.front();
        EXPECT_THAT(program.errors(), HasSubstr("standard output cannot be written"));
    }
}

TEST(BadInput, AClosedStandardOutputLeavesTheRunsFilesWhole) {
    Program program(spirals("train", {"--set", "max_steps=50"}),
                    {"", [] { ::close(STDOUT_FILENO); }});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(text_of(program.runs() / "1" / "steps.rec"), StartsWith("HTSTEPS\n"));
    EXPECT_THAT(text_of(program.runs() / "1" / "events.jsonl"), Not(HasSubstr("\"step\",")));
    EXPECT_THAT(text_of(program.runs() / "1" / "events.jsonl"), HasSubstr("\"max_steps\""));
}

TEST(BadInput, ASecondCtrlCEndsAtOnce) {
    // Steps of a second or more: the first Ctrl-C waits for the current step.
    Program program({"train", "--json", "--set", "dataset.kind=spirals", "--set", "model.kind=mlp",
                     "--set", "model.options.hidden=[4096,4096]", "--set", "batch_size=16384"});
    std::string line;
    ASSERT_TRUE(program.read_line(line));
    program.signal(SIGINT);
    program.wait_for_delivery(SIGINT);  // two that are pending count as one
    program.signal(SIGINT);
    program.finish();
    EXPECT_EQ(program.exit_code(), 130);
    EXPECT_THAT(events_of(program, "done"), IsEmpty());
}

TEST(BadInput, Kill9LosesNoStepThatWasReportedAndTheHistoryGoesOn) {
    const test_support::TempFolder home;
    std::int64_t seen = 0;
    {
        Program program(spirals("train", {"--set", "epochs=1000000"}), {home.str(), {}});
        for (std::string line; seen < 200 && program.read_line(line);)
            seen = json::parse(line).value("step", seen);
        program.signal(SIGKILL);
        program.finish();
        EXPECT_EQ(program.exit_code(), -1);
        for (const auto& step : events_of(program, "step")) seen = step.at("step");
    }
    const std::string record = text_of(home / "halftone" / "runs" / "1" / "steps.rec");
    std::int64_t published = 0;
    ASSERT_GT(record.size(), 32U);
    std::memcpy(&published, record.data() + 24, sizeof published);
    EXPECT_GE(published, seen);
    Program next(spirals("train", {"--set", "max_steps=2"}), {home.str(), {}});
    next.finish();
    EXPECT_EQ(next.exit_code(), 0) << next.errors();
    EXPECT_THAT(next.errors(), IsEmpty());
    EXPECT_EQ(events_of(next, "done").at(0).at("run"), "2");
}

}  // namespace
}  // namespace app
