#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <random>
#include <thread>

#include "kept_runs.h"

namespace app {
namespace {

using testing::IsEmpty;

TEST(Interruption, AHangUpAndATerminationSaveTheRunAsCtrlCDoes) {
    for (const int signal : {SIGHUP, SIGTERM}) {
        Program program(spirals("train", {"--set", "epochs=1000000"}));
        std::string line;
        while (program.read_line(line) && line.find("\"step\":20,") == std::string::npos) {
        }
        program.signal(signal);
        program.finish();
        EXPECT_EQ(program.exit_code(), 0) << program.errors();
        EXPECT_EQ(events_of(program, "done").at(0).at("reason"), "stopped");
    }
}

TEST(Interruption, UnderNohupAHangUpIsIgnored) {
    Program program(spirals("train", {"--set", "epochs=1000000"}),
                    {"", [] { std::signal(SIGHUP, SIG_IGN); }});
    std::string line;
    program.read_line(line);
    program.signal(SIGHUP);
    while (program.read_line(line) && line.find("\"step\":50,") == std::string::npos) {
    }
    program.signal(SIGTERM);
    program.finish();
    EXPECT_GE(events_of(program, "step").size(), 50U);
}

/// CIFAR-100 records of random pixels, compressed: tens of MB that take seconds to decompress.
std::string packed_cifar(std::size_t records) {
    std::string bytes(records * 3074, '\0');
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        // Four random bits per byte keep the decompressor busy. Labels stay in range.
        if (i % 3074 >= 2) bytes[i] = static_cast<char>(random() & 15);
    }
    std::string packed(lzma_stream_buffer_bound(bytes.size()), '\0');
    std::size_t size = 0;
    const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data());
    auto* to = reinterpret_cast<std::uint8_t*>(packed.data());
    EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, from, bytes.size(), to, &size,
                                      packed.size()),
              LZMA_OK);
    packed.resize(size);
    return packed;
}

TEST(Interruption, CtrlCIsObeyedWhileTheDataAreRead) {
    const test_support::TempFolder data;
    const std::string packed = packed_cifar(20'000);
    // Five parts with the same content.
    for (const std::string part : {"train", "train-part2", "train-part3", "train-part4", "test"})
        data.write(part + ".bin.xz", packed);
    Program program({"train", "--json", "--set", "dataset.kind=cifar100", "--set",
                     "dataset.path=" + data.str()});
    program.wait_for_handler(SIGUSR1);  // as long as requests to end are noted
    program.signal(SIGINT);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(events_of(program, "start"), IsEmpty()) << "the data were read to their end";
}

class InterruptedExport : public KeptRuns {};

/// A pipe holds the export up in the middle.
TEST_F(InterruptedExport, IsGivenUpAndSaysSo) {
    train({"--set", "max_steps=2000", "--set", "epochs=2000"});
    const std::string pipe = (home_ / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    Program program({"export", "1", "--to", "csv", "-o", pipe}, {home_.str(), {}});
    pollfd output{reader, POLLIN, 0};
    ASSERT_EQ(::poll(&output, 1, 300'000), 1) << "it has begun";
    program.signal(SIGINT);
    std::array<char, 1 << 16> read{};
    std::thread drain([&] {
        for (;;) {
            const ssize_t got = ::read(reader, read.data(), read.size());
            if (got == 0) return;
            if (got < 0) ::poll(&output, 1, 100);
        }
    });
    program.finish();
    drain.join();
    ::close(reader);
    EXPECT_EQ(program.exit_code(), 130);
    EXPECT_THAT(program.errors(), testing::HasSubstr("stopped; nothing of it was kept"));
}

}  // namespace
}  // namespace app
