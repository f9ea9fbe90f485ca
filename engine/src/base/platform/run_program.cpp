#include "base/platform/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{1} << 20;

/// Both ends of a pipe, closed with this object. A later child of this process inherits none.
struct Pipe {
    int read_end = -1, write_end = -1;

    Pipe() {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
            read_end = ends[0];
            write_end = ends[1];
        }
    }
    ~Pipe() {
        close_end(read_end);
        close_end(write_end);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    static void close_end(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
};

/// Starts the program in a process group of its own, so that all of it can be ended. 0: it cannot
/// be started.
pid_t spawn(const std::vector<std::string>& arguments, const Pipe& output, const Pipe& errors) {
    std::vector<std::string> words = arguments;
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors.write_end, STDERR_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE})
        ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::posix_spawnattr_setsigmask(&attributes, &blocked);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    pid_t child = 0;
    const int failure =
        ::posix_spawnp(&child, pointers.front(), &actions, &attributes, pointers.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return failure == 0 ? child : 0;
}

/// Reads what is there; closes the pipe at its end.
void read_some(int& from, std::string& text) {
    std::array<char, 4096> part;
    const ssize_t got = ::read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return Pipe::close_end(from);
    const std::size_t room = most_output - std::min(most_output, text.size());
    text.append(part.data(), std::min(room, static_cast<std::size_t>(got)));
}

/// How long a program is waited for.
struct Patience {
    Clock::time_point deadline;
    const std::stop_token& stop;

    bool is_over() const { return stop.stop_requested() || Clock::now() >= deadline; }
};

/// False: the patience was over first.
bool read_to_end(Pipe& output, Pipe& errors, ProgramOutcome& out, const Patience& patience) {
    constexpr std::chrono::milliseconds longest_wait{50};  // a stop wakes nobody
    while (output.read_end >= 0 || errors.read_end >= 0) {
        if (patience.is_over()) return false;
        const auto left =
            std::min(longest_wait, std::chrono::ceil<std::chrono::milliseconds>(
                                       patience.deadline - Clock::now()));
        std::array<pollfd, 2> waited{pollfd{output.read_end, POLLIN, 0},
                                     pollfd{errors.read_end, POLLIN, 0}};
        ::poll(waited.data(), waited.size(), static_cast<int>(std::max<long>(left.count(), 0)));
        if (waited[0].revents != 0) read_some(output.read_end, out.output);
        if (waited[1].revents != 0) read_some(errors.read_end, out.errors);
    }
    return true;
}

/// Leaves the child's status to be collected. False: the patience was over first. A program may
/// close its outputs and go on.
bool wait_for_end(pid_t child, const Patience& patience) {
    constexpr std::chrono::milliseconds longest_pause{20};
    for (std::chrono::milliseconds pause{1};; pause = std::min(pause * 2, longest_pause)) {
        siginfo_t ended{};
        const int failure =
            ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
        if ((failure != 0 && errno != EINTR) || ended.si_pid != 0) return true;
        if (patience.is_over()) return false;
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace

ProgramOutcome run_program(const std::vector<std::string>& arguments, std::chrono::seconds limit,
                           const std::stop_token& stop) {
    const Patience patience{Clock::now() + limit, stop};
    ProgramOutcome out;
    Pipe output, errors;
    if (output.read_end < 0 || errors.read_end < 0) return out;
    const pid_t child = spawn(arguments, output, errors);
    if (child == 0) return out;
    out.started = true;
    Pipe::close_end(output.write_end);
    Pipe::close_end(errors.write_end);
    out.in_time = read_to_end(output, errors, out, patience) && wait_for_end(child, patience);
    out.stopped = !out.in_time && stop.stop_requested();
    if (!out.in_time) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return out;
    if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
    return out;
}

bool is_program(std::string_view name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        folder += '/';
        folder += name;
        if (::access(folder.c_str(), X_OK) == 0) return true;
    }
    return false;
}

}  // namespace engine
