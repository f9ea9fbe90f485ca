#include "base/platform/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "temp_folder.h"

namespace engine {
namespace {

TEST(RegularFile, IsReadUpToALimit) {
    const test_support::TempFolder folder;
    folder.write("text", "abcdef");
    folder.write("empty", "");
    EXPECT_EQ(read_regular_file(folder / "text", 100), "abcdef");
    EXPECT_EQ(read_regular_file(folder / "text", 4), "abcd");
    EXPECT_EQ(read_regular_file(folder / "empty", 4), "");
    EXPECT_EQ(read_end_of_file(folder / "text", 100), "abcdef");
    EXPECT_EQ(read_end_of_file(folder / "text", 4), "cdef");
    EXPECT_EQ(read_end_of_file(folder / "empty", 4), "");
}

TEST(RegularFile, NothingElseIsReadNorWaitedFor) {
    const test_support::TempFolder folder;
    ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    for (const auto& path : {folder / "fifo", folder / "absent", folder.path()})
        EXPECT_FALSE(read_regular_file(path, 100) || read_end_of_file(path, 100)) << path;
}

}  // namespace
}  // namespace engine
