#pragma once

#include <iosfwd>
#include <memory>

namespace app {

/// While it lives, what goes to std::cout and std::cerr is made printable (engine/plain_text.h), so
/// that a name in a file of someone else cannot send commands to the terminal. The program prints
/// to no other stream.
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

/// On a terminal: begins the current line anew, and clears it. A manipulator of std::cout.
std::ostream& begin_line(std::ostream& out);

/// printf() to std::cout.
[[gnu::format(printf, 1, 2)]] void print_formatted(const char* format, ...);

}  // namespace app
