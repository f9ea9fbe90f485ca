#include "io/file/file_lock.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

TEST(FileLock, HasOneHolder) {
    const test_support::TempFolder dir;
    EXPECT_FALSE(FileLock::is_held(dir / "lock"));
    auto lock = FileLock::try_take(dir / "lock");
    ASSERT_TRUE(lock);
    EXPECT_TRUE(FileLock::is_held(dir / "lock"));
    EXPECT_FALSE(FileLock::try_take(dir / "lock"));
    lock.reset();
    EXPECT_FALSE(FileLock::is_held(dir / "lock"));
    (void)FileLock::take(dir / "lock");
}

TEST(FileLock, AFolderThatIsNotThereIsAnError) {
    EXPECT_THROW(FileLock::take("/nowhere/lock"), Error);
    EXPECT_THROW(FileLock::try_take("/nowhere/lock"), Error);
    EXPECT_FALSE(FileLock::is_held("/nowhere/lock"));
}

TEST(FileLock, LetsEverybodyInWhereTheFileSystemHasNoLocks) {
    const test_support::TempFolder dir;
    FileLock::replace_flock([](int, int) {
        errno = ENOLCK;
        return -1;
    });
    const auto first = FileLock::try_take(dir / "lock");
    EXPECT_TRUE(first);
    EXPECT_TRUE(FileLock::try_take(dir / "lock"));
    EXPECT_FALSE(FileLock::is_held(dir / "lock"));
    FileLock::replace_flock(nullptr);
    const auto lock = FileLock::try_take(dir / "lock");
    EXPECT_TRUE(FileLock::is_held(dir / "lock"));
}

}  // namespace
}  // namespace engine
