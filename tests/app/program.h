#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temp_folder.h"

namespace app {

/// The program as a child process, with its own home folder.
class Program {
public:
    struct Options {
        std::string data_home;               ///< of the child; empty: a folder of this object
        std::function<void()> before_start;  ///< runs in the child
    };

    explicit Program(const std::vector<std::string>& args);
    Program(const std::vector<std::string>& args, const Options& options);
    /// Ends the child if it is still running.
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// The next line of its standard output, without the newline. False at the end of the output.
    bool read_line(std::string& line);
    void close_output();
    void signal(int number);
    /// Waits until the program has installed a handler for this signal, or has ended.
    void wait_for_handler(int number) const;
    /// Waits until no signal of this number is pending, or the program has ended.
    void wait_for_delivery(int number) const;
    /// Reads all output and waits for the end.
    void finish();

    int exit_code() const { return exit_code_; }                       ///< -1: ended by a signal
    const std::vector<std::string>& output() const { return lines_; }  ///< of standard output
    std::string output_text() const;
    std::string errors() const;  ///< all of standard error
    std::filesystem::path runs() const { return home_ / "halftone" / "runs"; }

private:
    /// Whether a set of signals of /proc/PID/status ("SigCgt:") has this one; nothing: it has
    /// ended.
    std::optional<bool> has_signal(const char* set, int number) const;

    test_support::TempFolder home_;
    pid_t child_ = -1;
    int output_ = -1;
    int exit_code_ = -1;
    std::string buffer_;
    std::vector<std::string> lines_;
};

}  // namespace app
