#include "engine/runs/end_notice.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "engine/base/plain_text.h"
#include "engine/record/event.h"

namespace engine {
namespace {

/// A zero byte would cut a value short.
std::string without_zeros(std::string text) {
    std::erase(text, '\0');
    return text;
}

/// The variables of this process, without those that the notice sets.
std::vector<std::string> environment_with(const EndNotice& notice) {
    std::vector<std::string> out;
    const auto added = notice_environment(notice);
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string variable = *each;
        bool replaced = false;
        for (const auto& [name, value] : added)
            replaced = replaced || variable.starts_with(name + "=");
        if (!replaced) out.push_back(variable);
    }
    for (const auto& [name, value] : added) out.push_back(name + "=" + value);
    return out;
}

}  // namespace

std::string end_state(const RunDone& done) {
    if (done.reason == DoneReason::failed) return "failed";
    if (done.reason == DoneReason::diverged || done.diverged_at != 0) return "diverged";
    return done.reason == DoneReason::stopped ? "stopped" : "done";
}

std::vector<std::pair<std::string, std::string>> notice_environment(const EndNotice& notice) {
    return {{"HALFTONE_KIND", notice.kind},
            {"HALFTONE_RUN", join(notice.runs, " ")},
            {"HALFTONE_STATE", notice.state},
            {"HALFTONE_REASON", without_zeros(notice.reason)}};
}

int run_notice_command(const std::string& command, const EndNotice& notice) {
    std::vector<std::string> variables = environment_with(notice);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::string shell = "sh", option = "-c", text = command;
    char* arguments[] = {shell.data(), option.data(), text.data(), nullptr};
    // The command obeys Ctrl-C, whatever this program does with it.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int failure =
        ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments, environment.data());
    ::posix_spawnattr_destroy(&attributes);
    if (failure != 0) return -1;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace engine
