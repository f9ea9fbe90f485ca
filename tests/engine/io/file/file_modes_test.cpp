#include "io/file/file_modes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_lock.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

unsigned permissions_of(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
}

/// With the umask that most people have, and no sharing.
class FileModes : public testing::Test {
protected:
    void SetUp() override { before_ = ::umask(022); }
    void TearDown() override {
        ::umask(before_);
        ::unsetenv("HALFTONE_SHARED");
    }
    /// The folder of a run with settings of this mode.
    fs::path run_of(mode_t mode) {
        const fs::path folder = dir_ / std::to_string(mode);
        fs::create_directory(folder);
        (void)File(::open((folder / "lock").c_str(), O_CREAT | O_WRONLY, 0644));
        (void)File(::open((folder / "config.json").c_str(), O_CREAT | O_WRONLY, mode));
        ::chmod((folder / "config.json").c_str(), mode);
        return folder;
    }
    const test_support::TempFolder dir_;

private:
    mode_t before_ = 0;
};

TEST_F(FileModes, FilesThatAPersonNamesFollowTheUmask) {
    write_file(dir_ / "report.html", "x");
    append_lines(dir_ / "log", "x");
    EXPECT_EQ(permissions_of(dir_ / "report.html"), 0644U);
    EXPECT_EQ(permissions_of(dir_ / "log"), 0644U);
    ::umask(0);
    write_file(dir_ / "open", "x");
    EXPECT_EQ(permissions_of(dir_ / "open"), 0666U);
    ::setenv("HALFTONE_SHARED", "group", 1);
    ::umask(077);
    write_file(dir_ / "closed", "x");
    EXPECT_EQ(permissions_of(dir_ / "closed"), 0600U);
}

TEST_F(FileModes, ANewRunIsPrivateWhateverTheUmask) {
    for (const mode_t mask : {0, 022, 077, 0277}) {
        ::umask(mask);
        const fs::path folder = dir_ / ("new" + std::to_string(mask)) / "run";
        std::error_code error;
        make_private_folders(folder, error);
        ASSERT_FALSE(error);
        EXPECT_EQ(permissions_of(folder), 0700U & ~mask);
        EXPECT_EQ(permissions_of(folder.parent_path()), 0700U & ~mask);
        (void)open_private(folder / "lock", O_RDWR);
        (void)open_private(folder / "lease.1", O_RDWR);
        write_file(folder / "config.json", "{}");
        append_lines(folder / "events.jsonl", "x");
        EXPECT_EQ(make_private_folder(folder / "checkpoint-1.part"), 0);
        write_file(folder / "checkpoint-1.part" / "state.json", "x");
        for (const char* file :
             {"lock", "config.json", "events.jsonl", "checkpoint-1.part/state.json"})
            EXPECT_EQ(permissions_of(folder / file), 0600U & ~mask) << file;
        EXPECT_EQ(permissions_of(folder / "checkpoint-1.part"), 0700U & ~mask);
    }
}

TEST_F(FileModes, AGroupThatSharesItsRunsSharesThemRegardlessOfTheUmask) {
    ::setenv("HALFTONE_SHARED", "group", 1);
    for (const mode_t mask : {0, 022, 077}) {
        ::umask(mask);
        const fs::path folder = dir_ / ("shared" + std::to_string(mask));
        std::error_code error;
        make_private_folders(folder, error);
        (void)open_private(folder / "lock", O_RDWR);
        (void)open_private(folder / "lease.1", O_RDWR);
        write_file(folder / "config.json", "{}");
        ::unsetenv("HALFTONE_SHARED");  // a colleague goes on with it
        append_lines(folder / "events.jsonl", "x");
        make_private_folders(folder / "skips", error);
        write_file(folder / "skips" / "3.json", "x");
        ::setenv("HALFTONE_SHARED", "group", 1);
        EXPECT_EQ(permissions_of(folder), 02770U);
        EXPECT_EQ(permissions_of(folder / "skips"), 02770U);
        for (const char* file : {"lock", "config.json", "events.jsonl", "skips/3.json"})
            EXPECT_EQ(permissions_of(folder / file), 0660U) << file;
    }
}

TEST_F(FileModes, ARunKeepsTheModesThatItBeganWith) {
    for (const mode_t mode : {0600, 0640, 0644, 0660, 0664}) {
        const fs::path folder = run_of(mode);
        write_file(folder / "notes.json", "x");
        std::error_code error;
        make_private_folders(folder / "xray", error);
        write_file(folder / "xray" / "1.json", "x");
        EXPECT_EQ(permissions_of(folder / "notes.json"), mode);
        EXPECT_EQ(permissions_of(folder / "xray" / "1.json"), mode);
        EXPECT_EQ(permissions_of(folder / "xray") & 0777U, mode | (mode & 0444U) >> 2U);
    }
    const fs::path folder = run_of(0400);
    write_file(folder / "notes.json", "x");
    EXPECT_EQ(permissions_of(folder / "notes.json"), 0600U) << "its owner can write it";
}

TEST_F(FileModes, ARunThatIsUnpackedIsPrivate) {
    std::error_code error;
    make_private_folders(dir_ / ".import-1/run/checkpoint-3", error);
    (void)open_private(dir_ / ".import-1/lock", O_RDWR);
    (void)open_private(dir_ / ".import-1/lease.1", O_RDWR);
    for (const char* file :
         {"run/checkpoint-3/state.json", "run/config.json", "run/events.jsonl"}) {
        write_file(dir_ / ".import-1" / file, "{}");
        EXPECT_EQ(permissions_of(dir_ / ".import-1" / file), 0600U) << file;
    }
}

TEST_F(FileModes, AnImportedRunHasNoLock) {
    const fs::path folder = run_of(0600);
    fs::remove(folder / "lock");
    append_lines(folder / "events.jsonl", "x");
    write_file(folder / "notes.json", "x");
    EXPECT_EQ(permissions_of(folder / "notes.json"), 0600U);
}

TEST_F(FileModes, SettingsElsewhereDoNotDecide) {
    write_file(dir_ / "config.json", "{}");  // of another program
    std::error_code error;
    make_private_folders(dir_ / "runs/1", error);
    (void)open_private(dir_ / "runs/1/lock", O_RDWR);
    (void)open_private(dir_ / "runs/1/lease.1", O_RDWR);
    write_file(dir_ / "runs/1/config.json", "{}");
    EXPECT_EQ(permissions_of(dir_ / "runs/1/config.json"), 0600U);
    write_file(dir_ / "export.csv", "x");
    EXPECT_EQ(permissions_of(dir_ / "export.csv"), 0644U);
}

TEST_F(FileModes, AFileThatIsThereKeepsItsMode) {
    const fs::path folder = run_of(0600);
    append_lines(folder / "events.jsonl", "x");
    ::chmod((folder / "events.jsonl").c_str(), 0604);
    append_lines(folder / "events.jsonl", "y");
    EXPECT_EQ(permissions_of(folder / "events.jsonl"), 0604U);
    EXPECT_FALSE(open_private(folder / "events.jsonl", O_RDWR | O_EXCL).is_open());
    EXPECT_EQ(make_private_folder(folder), EEXIST);
}

/// A run's folder that somebody else has packed may have links to files of the user.
TEST_F(FileModes, LinksInTheFolderOfARunAreNotFollowed) {
    const fs::path run = run_of(0600), home = dir_ / "home";
    fs::create_directories(home / "skips" / "7");
    write_file(home / "file", "mine");
    for (const char* name : {"events.jsonl", "steps.rec.part", "lock", "lease.1.part"})
        ASSERT_TRUE((fs::remove(run / name), fs::create_symlink(home / "file", run / name), true));
    fs::create_symlink(home / "absent", run / "dangling");
    fs::create_directory_symlink(home / "skips", run / "skips");
    EXPECT_THROW(append_lines(run / "events.jsonl", "x"), Error);
    EXPECT_THROW(append_lines(run / "dangling", "x"), Error);
    EXPECT_FALSE(open_to_write(run / "steps.rec.part", O_RDWR | O_TRUNC).is_open());
    EXPECT_FALSE(open_private(run / "lease.1.part", O_WRONLY | O_TRUNC).is_open());
    EXPECT_THROW((void)FileLock::try_take(run / "lock"), Error);
    std::error_code error;
    make_private_folders(run / "skips", error);
    EXPECT_EQ(error, std::errc::too_many_symbolic_link_levels);
    error.clear();
    for (const char* below : {"7", "8"}) {
        make_private_folders(run / "skips" / below, error);
        EXPECT_EQ(error, std::errc::too_many_symbolic_link_levels) << below;
    }
    std::string text;
    std::ifstream(home / "file") >> text;
    EXPECT_EQ(text, "mine");
    EXPECT_FALSE(fs::exists(home / "absent"));
    EXPECT_FALSE(fs::exists(home / "skips" / "8"));
    // A person's links to whole runs are theirs.
    fs::create_directory_symlink(run_of(0640), dir_ / "linked");
    make_private_folders(dir_ / "linked" / "skips", error);
    EXPECT_FALSE(error);
    append_lines(dir_ / "linked" / "events.jsonl", "x");
}

}  // namespace
}  // namespace engine
