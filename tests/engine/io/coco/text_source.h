#pragma once

#include <algorithm>
#include <cstring>
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

}  // namespace engine
