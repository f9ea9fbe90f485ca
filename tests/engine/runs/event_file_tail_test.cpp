#include "runs/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct EventTailTest : testing::Test {
    void append(const std::string& text) { std::ofstream(file, std::ios::app) << text; }
    std::vector<std::string> lines() {
        std::vector<std::string> out;
        more = tail.read([&](std::string_view line) { out.emplace_back(line); });
        return out;
    }

    test_support::TempFolder dir;
    std::filesystem::path file = dir / "events.jsonl";
    LineTail tail{file};
    bool more = false;
};

TEST_F(EventTailTest, TakesLinesAsTheyBecomeWhole) {
    EXPECT_THAT(lines(), IsEmpty()) << "there is no file yet";
    append("one\ntw");
    EXPECT_THAT(lines(), ElementsAre("one"));
    EXPECT_THAT(lines(), IsEmpty());
    append("o\n\nthree\n");
    EXPECT_THAT(lines(), ElementsAre("two", "", "three"));
}

TEST_F(EventTailTest, ALongFileComesInParts) {
    const std::string line(1000, 'x');
    std::string text;
    for (int i = 0; i < 5000; ++i) text += line + "\n";
    append(text);
    std::size_t taken = 0;
    int reads = 0;
    do {
        for (const auto& each : lines()) taken += each == line ? 1 : 0;
        ++reads;
    } while (more);
    EXPECT_EQ(taken, 5000u);
    EXPECT_EQ(reads, 5) << "1 MiB at a time";
}

TEST_F(EventTailTest, AFileThatWasCutReplacedOrHasNoLinesIsAnError) {
    append("one\ntwo\n");
    (void)lines();
    std::filesystem::resize_file(file, 3);
    EXPECT_THROW(lines(), Error);

    tail = LineTail(file);
    (void)lines();
    std::ofstream(dir / "other") << "one\ntwo\nthree\n";
    std::filesystem::rename(dir / "other", file);
    EXPECT_THROW(lines(), Error);

    tail = LineTail(file);
    append(std::string(std::size_t{3} << 20, 'x'));
    EXPECT_THROW(while (true) lines(), Error);

    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    tail = LineTail(file);
    EXPECT_THROW(lines(), Error) << "and it does not wait for a writer";
}

}  // namespace
}  // namespace engine
