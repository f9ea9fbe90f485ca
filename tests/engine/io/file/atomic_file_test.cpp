#include "io/file/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct stat stat_of(const fs::path& file) {
    struct stat info {};
    EXPECT_EQ(::lstat(file.c_str(), &info), 0) << file;
    return info;
}
mode_t mode_of(const fs::path& file) { return stat_of(file).st_mode & 07777; }

/// Nothing but these entries: no half-written file stays.
void expect_entries(const fs::path& folder, std::size_t count) {
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()),
              static_cast<std::ptrdiff_t>(count));
}

TEST(AtomicFile, ANamedFileThatIsNewFollowsTheUmask) {
    const test_support::TempFolder folder;
    for (const mode_t mask : {022, 077, 002}) {
        const mode_t before = ::umask(mask);
        write_named_file(folder / std::to_string(mask), "new");
        ::umask(before);
        EXPECT_EQ(mode_of(folder / std::to_string(mask)), 0666 & ~mask);
    }
}

TEST(AtomicFile, ANamedFileKeepsItsMode) {
    const test_support::TempFolder folder;
    for (const mode_t mode : {0600, 0640, 0666, 0755, 0220, 01644}) {
        const fs::path file = folder.write("file", std::string("a longer text than the new one"));
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        if ((mode & 0400) == 0 && ::geteuid() != 0) continue;
        write_named_file(file, "new");
        EXPECT_EQ(mode_of(file), mode);
        EXPECT_EQ(text_of(file), "new");
        fs::remove(file);
    }
}

TEST(AtomicFile, ANamedFileKeepsItsOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
    const test_support::TempFolder folder;
    const fs::path file = folder.write("file", std::string("old"));
    ASSERT_EQ(::chown(file.c_str(), 1234, 4321), 0);
    write_named_file(file, "new");
    EXPECT_EQ(stat_of(file).st_uid, 1234U);
    EXPECT_EQ(stat_of(file).st_gid, 4321U);
    EXPECT_EQ(text_of(file), "new");
}

TEST(AtomicFile, ANamedFileWithoutPermissionToWriteIsRefusedForRootToo) {
    const test_support::TempFolder folder;
    for (const mode_t mode : {0444, 0400, 0555, 0000}) {
        const fs::path file = folder.write("file", std::string("old"));
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        EXPECT_THAT(message_of(ErrorCode::io, [&] { write_named_file(file, "new"); }),
                    HasSubstr("the file is read-only"));
        fs::create_symlink("file", folder / "link");
        EXPECT_THROW(write_named_file(folder / "link", "new"), Error);
        EXPECT_EQ(mode_of(file), mode);
        ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
        EXPECT_EQ(text_of(file), "old");
        expect_entries(folder.path(), 2);
        fs::remove(folder / "link");
        fs::remove(file);
    }
}

TEST(AtomicFile, ANamedLinkIsFollowed) {
    const test_support::TempFolder folder;
    fs::create_directory(folder / "real");
    folder.write("real/file", std::string("old"));
    fs::create_symlink("real/file", folder / "relative");
    fs::create_symlink(folder / "real" / "file", folder / "absolute");
    fs::create_symlink("relative", folder / "chain");
    for (const char* link : {"relative", "absolute", "chain"}) {
        write_named_file(folder / link, link);
        EXPECT_TRUE(fs::is_symlink(folder / link));
        EXPECT_EQ(text_of(folder / "real" / "file"), link);
    }
    expect_entries(folder / "real", 1);
}

TEST(AtomicFile, ANamedLinkThatLeadsNowhereMakesTheFile) {
    const test_support::TempFolder folder;
    fs::create_directory(folder / "real");
    fs::create_symlink("real/new", folder / "dangling");
    fs::create_symlink("dangling", folder / "chain");
    write_named_file(folder / "chain", "text");
    EXPECT_EQ(text_of(folder / "real" / "new"), "text");
    EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
    EXPECT_TRUE(fs::is_symlink(folder / "chain"));
    fs::create_symlink("absent/new", folder / "lost");
    EXPECT_THROW(write_named_file(folder / "lost", "text"), Error);
    fs::create_symlink("circle", folder / "circle");
    EXPECT_THROW(write_named_file(folder / "circle", "text"), Error);
    EXPECT_TRUE(fs::is_symlink(folder / "lost"));
}

TEST(AtomicFile, ANamedFileWithSeveralNamesIsWrittenInPlace) {
    const test_support::TempFolder folder;
    const fs::path file = folder.write("file", std::string("a longer text than the new one"));
    fs::create_hard_link(file, folder / "second");
    const auto before = stat_of(file).st_ino;
    {
        AtomicFile out(file, NamedBy::person);
        out.write("new");
        EXPECT_EQ(text_of(file), "a longer text than the new one");  // until it is whole
        out.commit();
    }
    EXPECT_EQ(text_of(folder / "second"), "new");
    EXPECT_EQ(stat_of(file).st_ino, before);
    expect_entries(folder.path(), 2);
}

TEST(AtomicFile, APipeIsWrittenInto) {
    const test_support::TempFolder folder;
    const fs::path pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = text_of(pipe); });
    const std::string text(200'000, 'x');
    write_named_file(pipe, text);
    reader.join();
    EXPECT_EQ(got, text);
    EXPECT_TRUE(fs::is_fifo(pipe));
    expect_entries(folder.path(), 1);
}

TEST(AtomicFile, ADeviceIsWrittenInto) {
    const test_support::TempFolder folder;
    const fs::path device = folder / "null";
    if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
        GTEST_SKIP() << "no device can be made here";
    const int opened = ::open(device.c_str(), O_WRONLY);
    if (opened < 0) GTEST_SKIP() << "devices cannot be used in this folder";
    ::close(opened);
    write_named_file(device, "text");
    EXPECT_TRUE(fs::is_character_file(device));
    expect_entries(folder.path(), 1);
}

TEST(AtomicFile, AFolderIsRefusedBeforeAnythingIsWritten) {
    const test_support::TempFolder folder;
    EXPECT_THROW(AtomicFile(folder.path(), NamedBy::person), Error);
    EXPECT_THROW(AtomicFile(folder / "absent" / "file", NamedBy::person), Error);
    expect_entries(folder.path(), 0);
}

TEST(AtomicFile, ANamedFileThatIsNotCommittedStaysAsItWas) {
    const test_support::TempFolder folder;
    const fs::path file = folder.write("file", std::string("old"));
    fs::create_hard_link(file, folder / "second");
    { AtomicFile(file, NamedBy::person).write("new"); }
    { AtomicFile(folder / "another", NamedBy::person).write("new"); }
    EXPECT_EQ(text_of(file), "old");
    expect_entries(folder.path(), 2);
}

/// In a run's folder from elsewhere a link could lead anywhere.
TEST(AtomicFile, AFileOfTheProgramReplacesALink) {
    const test_support::TempFolder folder;
    folder.write("outside", std::string("old"));
    fs::create_symlink("outside", folder / "notes.json");
    write_file(folder / "notes.json", "new");
    EXPECT_FALSE(fs::is_symlink(folder / "notes.json"));
    EXPECT_EQ(text_of(folder / "outside"), "old");
}

TEST(AppendLines, ALineThatWasCutOffTakesNoOtherOneWithIt) {
    const test_support::TempFolder folder;
    const fs::path file = folder / "events.jsonl";
    append_lines(file, "one\n");
    append_lines(file, "two\nthree\n");
    EXPECT_EQ(text_of(file), "one\ntwo\nthree\n");
    fs::resize_file(file, fs::file_size(file) - 4);  // a full disk, or a machine that lost its power
    append_lines(file, "four\n");
    EXPECT_EQ(text_of(file), "one\ntwo\nth\nfour\n");
    append_lines(file, "five\n");
    EXPECT_EQ(text_of(file), "one\ntwo\nth\nfour\nfive\n");
}

TEST(AtomicFile, StandardOutputIsKnownByItsFile) {
    const test_support::TempFolder folder;
    const fs::path file = folder / "out";
    const int kept = ::dup(STDOUT_FILENO);
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(opened, STDOUT_FILENO);
    ::close(opened);
    const bool is_output = is_standard_output(file), is_other = is_standard_output("/");
    write_named_file(file, "first ");
    EXPECT_EQ(::write(STDOUT_FILENO, "then", 4), 4);
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
    EXPECT_TRUE(is_output);
    EXPECT_FALSE(is_other);
    EXPECT_EQ(text_of(file), "first then");
}

}  // namespace
}  // namespace engine
