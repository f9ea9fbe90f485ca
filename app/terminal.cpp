#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <streambuf>

#include "engine/base/plain_text.h"

namespace app {
namespace {

/// Makes text printable on its way to another buffer. Holds back at most the first bytes of a
/// character whose rest has not come yet.
class CleanBuffer final : public std::streambuf {
public:
    explicit CleanBuffer(std::streambuf* to) : to_(to) {}
    ~CleanBuffer() override { pass_on(held_); }
    CleanBuffer(const CleanBuffer&) = delete;
    CleanBuffer& operator=(const CleanBuffer&) = delete;

    std::streambuf* to() const { return to_; }
    /// Writes the program's own control characters as they are.
    bool write_raw(std::string_view text) {
        return to_->sputn(text.data(), std::ssize(text)) == std::ssize(text);
    }

protected:
    /// In pieces, since a whole table has one call.
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        constexpr std::size_t piece = std::size_t{64} << 10;
        std::string_view left(text, static_cast<std::size_t>(count));
        for (; !left.empty(); left.remove_prefix(std::min(left.size(), piece))) {
            if (!add(left.substr(0, piece))) return count - std::ssize(left);
        }
        return count;
    }
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        const char one = traits_type::to_char_type(c);
        return xsputn(&one, 1) == 1 ? c : traits_type::eof();
    }
    int sync() override { return to_->pubsync(); }

private:
    bool add(std::string_view text) {
        held_ += text;
        const std::string rest = held_.substr(held_.size() - engine::cut_character(held_));
        held_.resize(held_.size() - rest.size());
        const bool passed = pass_on(held_);
        held_ = rest;
        return passed;
    }
    bool pass_on(std::string_view text) { return write_raw(engine::printable(text)); }

    std::streambuf* to_;
    std::string held_;
};

/// Clears the terminal's line of standard error and writes this instead.
void write_erased(const std::string& text) {
    constexpr std::string_view erase = "\r\033[K";
    if (auto* const clean = dynamic_cast<CleanBuffer*>(std::cerr.rdbuf()))
        clean->write_raw(erase);
    else
        std::cerr << erase;
    std::cerr << text << std::flush;
}

}  // namespace

/// A stream whose buffer is replaced.
class CleanOutput::Stream {
public:
    explicit Stream(std::ostream& stream) : stream_(stream), buffer_(stream.rdbuf()) {
        stream_.rdbuf(&buffer_);
    }
    ~Stream() {
        // rdbuf() would clear what check_output() asks for.
        const auto state = stream_.rdstate();
        stream_.rdbuf(buffer_.to());
        stream_.setstate(state);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

private:
    std::ostream& stream_;
    CleanBuffer buffer_;
};

CleanOutput::CleanOutput()
    : out_(std::make_unique<Stream>(std::cout)), error_(std::make_unique<Stream>(std::cerr)) {}
CleanOutput::~CleanOutput() = default;

std::ostream& begin_line(std::ostream& out) {
    if (isatty(STDOUT_FILENO) == 0) return out;
    constexpr std::string_view erase = "\r\033[K";
    auto* const clean = dynamic_cast<CleanBuffer*>(out.rdbuf());
    if (clean == nullptr) return out << erase;
    if (!clean->write_raw(erase)) out.setstate(std::ios::badbit);
    return out;
}

std::string progress_text(const std::string& what, double share, engine::RemainingTime& time) {
    const auto left = time.after(share);
    return what + ": " + std::to_string(std::lround(share * 100)) + " %" +
           (left ? ", " + engine::time_left_text(*left) : "");
}

void WorkProgress::show(double share) {
    using Clock = std::chrono::steady_clock;
    const std::string text = progress_text(what_, share, time_);
    if (isatty(STDERR_FILENO) == 0 || Clock::now() - last_ < std::chrono::milliseconds(200)) return;
    last_ = Clock::now();
    shown_ = true;
    write_erased(text);
}

WorkProgress::~WorkProgress() {
    if (shown_) write_erased("");
}

void print_formatted(const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
    // The terminating zero goes where the string has its own.
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    std::cout << text;
}

}  // namespace app
