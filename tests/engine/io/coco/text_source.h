#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "io/coco/coco_entries.h"

namespace engine {

/// A source that gives the text in pieces of a few bytes.
inline CocoSource pieces(std::string text, std::size_t most = 7) {
    return
        [text = std::move(text), most, at = std::size_t{0}](std::span<std::uint8_t> out) mutable {
            // A short read would be the end: fill in pieces, but whole.
            std::size_t filled = 0;
            while (filled < out.size() && at < text.size()) {
                const std::size_t count = std::min({most, out.size() - filled, text.size() - at});
                std::memcpy(out.data() + filled, text.data() + at, count);
                filled += count;
                at += count;
            }
            return filled;
        };
}

/// A source of lines that are made as they are read: `Lines` has bool next_line(std::string&), false
/// at the end.
template <class Lines>
class LineSource {
public:
    explicit LineSource(Lines lines) : lines_(std::move(lines)) {}
    std::size_t operator()(std::span<std::uint8_t> out) {
        std::size_t filled = 0;
        while (filled < out.size()) {
            if (at_ == line_.size()) {
                at_ = 0;
                line_.clear();
                if (!lines_.next_line(line_)) break;
            }
            const std::size_t count = std::min(out.size() - filled, line_.size() - at_);
            std::memcpy(out.data() + filled, line_.data() + at_, count);
            filled += count;
            at_ += count;
        }
        bytes_ += static_cast<std::int64_t>(filled);
        return filled;
    }
    std::int64_t bytes() const { return bytes_; }

private:
    Lines lines_;
    std::string line_;
    std::size_t at_ = 0;
    std::int64_t bytes_ = 0;
};

}  // namespace engine
