#include "io/file/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> lines_of(LineReader reader) {
    std::vector<std::string> out;
    for (std::string line; reader.next(line);) out.push_back(line);
    return out;
}

TEST(LineReader, ReadsLinesWithAndWithoutAnEndOfTheLast) {
    const test_support::TempFolder folder;
    EXPECT_THAT(lines_of(LineReader(folder.write("a", "one\n\ntwo\n"))),
                ElementsAre("one", "", "two"));
    EXPECT_THAT(lines_of(LineReader(folder.write("b", "one\ntwo"))), ElementsAre("one", "two"));
    EXPECT_THAT(lines_of(LineReader(folder.write("c", std::string()))), IsEmpty());
    EXPECT_THAT(lines_of(LineReader(folder.path() / "absent")), IsEmpty());
    EXPECT_THAT(lines_of(LineReader(folder.path())), IsEmpty());
    ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(lines_of(LineReader(folder.path() / "pipe")), IsEmpty());
}

TEST(LineReader, PassesOverLongLinesAndCountsThem) {
    const test_support::TempFolder folder;
    const std::string longest(10, 'a'), longer(11, 'b'), huge(200'000, 'c');
    const auto file = folder.write(
        "a", longest + '\n' + longer + "\nshort\n" + huge + '\n' + longest + '\n' + huge);
    LineReader reader(file, 10);
    std::string line;
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, longest);
    EXPECT_EQ(reader.count(), 1);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, "short");
    EXPECT_EQ(reader.count(), 3);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, longest);
    EXPECT_EQ(reader.count(), 5);
    EXPECT_FALSE(reader.next(line));
    EXPECT_EQ(reader.count(), 6);
}

TEST(LineReader, ReadsLinesThatSpanItsBlocks) {
    const test_support::TempFolder folder;
    std::vector<std::string> wanted;
    std::string text;
    for (int i = 0; i < 40; ++i) {
        wanted.push_back(
            std::string(static_cast<std::size_t>(i) * 997, static_cast<char>('a' + i % 26)));
        text += wanted.back() + '\n';
    }
    EXPECT_EQ(lines_of(LineReader(folder.write("a", text))), wanted);
}

}  // namespace
}  // namespace engine
