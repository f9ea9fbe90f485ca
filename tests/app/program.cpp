#include "program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace app {

Program::Program(const std::vector<std::string>& args) : Program(args, Options{}) {}

Program::Program(const std::vector<std::string>& args, const Options& options) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<std::string> words = args;
    words.insert(words.begin(), HALFTONE_PROGRAM);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string data_home = options.data_home.empty() ? home_.str() : options.data_home;
    child_ = ::fork();
    if (child_ == 0) {
        ::setenv("XDG_DATA_HOME", data_home.c_str(), 1);
        ::setenv("XDG_CONFIG_HOME", data_home.c_str(), 1);
        ::setenv("TMPDIR", home_.path().c_str(), 1);  // for a history whose folder cannot be written
        ::dup2(ends[1], STDOUT_FILENO);
        const int errors = ::open((home_ / "stderr").c_str(), O_WRONLY | O_CREAT, 0644);
        ::dup2(errors, STDERR_FILENO);
        if (options.before_start) options.before_start();
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
}

Program::~Program() {
    close_output();
    if (child_ > 0) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
}

bool Program::read_line(std::string& line) {
    for (;;) {
        const auto newline = buffer_.find('\n');
        if (newline != std::string::npos) {
            line = buffer_.substr(0, newline);
            buffer_.erase(0, newline + 1);
            lines_.push_back(line);
            return true;
        }
        std::array<char, 4096> bytes;
        const ssize_t count = ::read(output_, bytes.data(), bytes.size());
        if (count <= 0) return false;
        buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

void Program::close_output() {
    if (output_ >= 0) ::close(output_);
    output_ = -1;
}

void Program::signal(int number) { ::kill(child_, number); }

void Program::wait_for_handler(int number) const {
    while (has_signal("SigCgt:", number) == false) ::usleep(1000);
}

void Program::wait_for_delivery(int number) const {
    while (has_signal("ShdPnd:", number) == true) ::usleep(1000);
}

std::optional<bool> Program::has_signal(const char* set, int number) const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/status");
    std::string field;
    while (file >> field && field != set) {
    }
    std::uint64_t signals = 0;  // one bit each, from signal 1 on
    if (!(file >> std::hex >> signals)) return std::nullopt;
    return (signals >> (number - 1) & 1) != 0;
}

void Program::finish() {
    for (std::string line; output_ >= 0 && read_line(line);) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Program::output_text() const {
    std::string text;
    for (const auto& line : lines_) text += line + "\n";
    return text;
}

std::string Program::errors() const {
    std::ifstream file(home_ / "stderr");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace app
