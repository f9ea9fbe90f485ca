#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <string>

#include "engine/base/remaining_time.h"

namespace app {

/// While it lives, what goes to std::cout and std::cerr is made printable
/// (engine/base/plain_text.h), so that a name in a file of someone else cannot send commands to the
/// terminal. The program prints to no other stream.
class CleanOutput {
public:
    CleanOutput();
    ~CleanOutput();
    CleanOutput(const CleanOutput&) = delete;
    CleanOutput& operator=(const CleanOutput&) = delete;

private:
    class Stream;
    std::unique_ptr<Stream> out_, error_;
};

/// Clears the current line and returns to its beginning if the stream is a terminal. A manipulator
/// of std::cout.
std::ostream& begin_line(std::ostream& out);

/// A line on standard error that says how far a piece of work is and how long it still takes,
/// rewritten in place; nothing where that is no terminal. Removed when the object ends.
class WorkProgress {
public:
    explicit WorkProgress(std::string what) : what_(std::move(what)) {}
    ~WorkProgress();
    WorkProgress(const WorkProgress&) = delete;
    WorkProgress& operator=(const WorkProgress&) = delete;

    /// Shows the share that is done, from 0 to 1.
    void show(double share);

private:
    std::string what_;
    engine::RemainingTime time_;
    std::chrono::steady_clock::time_point last_{};
    bool shown_ = false;
};

/// "evaluating: 40 %, 12 s left".
std::string progress_text(const std::string& what, double share, engine::RemainingTime& time);

/// printf() to std::cout.
[[gnu::format(printf, 1, 2)]] void print_formatted(const char* format, ...);

}  // namespace app
