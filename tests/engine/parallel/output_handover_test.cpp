#include "parallel/output_handover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "engine/parallel/launch.h"

namespace engine {
namespace {

constexpr std::array streams = {STDOUT_FILENO, STDERR_FILENO};

/// While it lives, the two streams of this process are two pipes, apart from each other.
class PipedStreams {
public:
    PipedStreams() {
        for (std::size_t i = 0; i < streams.size(); ++i) {
            std::array<int, 2> ends{};
            EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
            read_[i] = ends[0];
            before_[i] = ::fcntl(streams[i], F_DUPFD_CLOEXEC, 3);
            ::dup2(ends[1], streams[i]);
            ::close(ends[1]);
        }
    }
    ~PipedStreams() {
        for (std::size_t i = 0; i < streams.size(); ++i) {
            ::dup2(before_[i], streams[i]);
            ::close(before_[i]);
            ::close(read_[i]);
        }
    }
    PipedStreams(const PipedStreams&) = delete;
    PipedStreams& operator=(const PipedStreams&) = delete;

    /// Takes the text that has been written so far.
    std::array<std::string, 2> text() const {
        std::array<std::string, 2> out;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            std::array<char, 4096> buffer{};
            const ssize_t size = ::read(read_[i], buffer.data(), buffer.size());
            if (size > 0) out[i].assign(buffer.data(), static_cast<std::size_t>(size));
        }
        return out;
    }

private:
    std::array<int, 2> read_{}, before_{};
};

void write_to(int stream, const char* text) {
    [[maybe_unused]] const auto size = ::write(stream, text, std::strlen(text));
}

/// The descriptors that a program started by this process would have.
std::set<std::string> inherited() {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const std::string name = entry.path().filename();
        const int flags = ::fcntl(std::stoi(name), F_GETFD);
        if (flags >= 0 && (flags & FD_CLOEXEC) == 0) out.insert(name);
    }
    return out;
}

/// Makes this process the given one of two ranks, whose streams the launcher has made.
void become_rank(const char* rank) {
    ::setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (const int stream : streams) ::dup2(nothing, stream);
    ::close(nothing);
}

bool has_name() { return std::getenv("HALFTONE_OUTPUT") != nullptr; }

/// Writes a word to each stream, as a rank that has taken what it was handed.
bool write_as_rank(const char* rank) {
    become_rank(rank);
    const auto before = inherited();
    take_handed_output();
    write_to(STDOUT_FILENO, "out");
    write_to(STDERR_FILENO, "err");
    return inherited() == before && !has_name();
}

/// The exit code of a child process.
int ends_with(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A process that does `work` and ends with exit code 0 if that returned true.
pid_t child_doing(const std::function<bool()>& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    return child;
}

/// Runs a child that opens the socket and then is `rank`; returns what reaches this process.
std::array<std::string, 2> handed_to(const char* rank) {
    const PipedStreams piped;
    OutputHandover output;
    const pid_t child = child_doing([&] {
        const auto before = inherited();
        output.open_in_child();
        return inherited() == before && write_as_rank(rank);
    });
    output.serve();
    EXPECT_EQ(ends_with(child), 0);
    return piped.text();
}

TEST(OutputHandover, Rank0WritesToTheStreamsOfTheProgramThatStartedIt) {
    EXPECT_EQ(handed_to("0"), (std::array<std::string, 2>{"out", "err"}));
    EXPECT_FALSE(has_name());
}

TEST(OutputHandover, AnotherRankKeepsItsOwn) {
    EXPECT_EQ(handed_to("1"), (std::array<std::string, 2>{}));
}

TEST(OutputHandover, EndsWhereNobodyComes) {
    for (const bool opens : {true, false}) {
        OutputHandover output;
        const pid_t child = child_doing([&] {
            if (opens) output.open_in_child();
            return true;
        });
        output.serve();
        EXPECT_EQ(ends_with(child), 0);
    }
    const OutputHandover not_even_forked;
}

TEST(OutputHandover, ARankWhoseProgramIsGoneKeepsItsOwnOutput) {
    const PipedStreams piped;
    const pid_t child = child_doing([] {
        { const OutputHandover ended; }
        ::setenv("HALFTONE_OUTPUT", "halftone-output-nobody", 1);
        ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
        ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
        take_handed_output();
        write_to(STDOUT_FILENO, "kept");
        return !has_name();
    });
    EXPECT_EQ(ends_with(child), 0);
    EXPECT_EQ(piped.text(), (std::array<std::string, 2>{"kept", ""}));
}

/// Bytes that a process gets which connects as `user`; -1 if it cannot.
ssize_t got_by(uid_t user, const std::string& name) {
    if (::setresuid(user, user, user) != 0) return -1;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int connection = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(connection, reinterpret_cast<sockaddr*>(&address), size) != 0) return -1;
    char byte = 0;
    return ::read(connection, &byte, 1);
}

TEST(OutputHandover, AnotherUserGetsNothing) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    OutputHandover output;
    const std::string name = std::getenv("HALFTONE_OUTPUT");
    const pid_t opener = child_doing([&] {
        output.open_in_child();
        return true;
    });
    output.serve();
    EXPECT_EQ(ends_with(opener), 0);
    constexpr uid_t nobody = 65534;
    EXPECT_EQ(ends_with(child_doing([&] { return got_by(nobody, name) == 0; })), 0);
    EXPECT_EQ(ends_with(child_doing([&] { return got_by(0, name) == 1; })), 0);
}

}  // namespace
}  // namespace engine
