#include "io/file/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>

#include "engine/io/named_file.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

extern "C" void end_by_signal(int signal) {
    remove_unfinished_files();
    ::_exit(128 + signal);
}

std::ptrdiff_t files_in(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), {});
}

/// A process that is in the middle of writing `file` when it gets SIGTERM.
void end_while_writing(const fs::path& file) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGTERM, end_by_signal);
        AtomicFile out(file, NamedBy::person);
        out.write(std::string_view("half"));
        const char word = '.';
        if (::write(ready[1], &word, 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    char word = 0;
    ASSERT_EQ(::read(ready[0], &word, 1), 1);
    EXPECT_GE(files_in(file.parent_path()), 1) << "the part is there";
    ::kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(UnfinishedFiles, ASignalThatEndsTheProgramLeavesNoPart) {
    const test_support::TempFolder folder;
    end_while_writing(folder / "new");
    EXPECT_TRUE(fs::is_empty(folder.path()));
    write_named_file(folder / "old", "whole");
    end_while_writing(folder / "old");
    EXPECT_EQ(files_in(folder.path()), 1);
    EXPECT_EQ(fs::file_size(folder / "old"), 5u) << "the old one stays";
}

TEST(UnfinishedFiles, AForkedProcessLeavesThoseOfItsParent) {
    const test_support::TempFolder folder;
    AtomicFile out(folder / "file");
    out.write(std::string_view("half"));
    const pid_t child = ::fork();
    if (child == 0) {
        remove_unfinished_files();
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_NO_THROW(out.commit());
    EXPECT_EQ(fs::file_size(folder / "file"), 4u);
}

TEST(UnfinishedFiles, AFinishedOneIsForgotten) {
    const test_support::TempFolder folder;
    const std::string path = (folder / "file").string();
    {
        UnfinishedFile file;
        file.note(path);
        file.note(std::string(5000, 'x'));  // too long: not noted, and no harm
    }
    write_file(path, "whole");
    remove_unfinished_files();
    EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace engine
