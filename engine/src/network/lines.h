#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/network/network.h"

namespace engine::network {

/// Bounds of a network's text (network notation, 2.4).
struct TextLimits {
    static constexpr std::size_t bytes = 256 * 1024;
    static constexpr int lines = 10'000, levels = 32, brackets = 64;
};

/// A statement of the text with the lines below it that are indented deeper. An open bracket
/// continues it on the next lines, which are joined by one space; comments are gone.
struct LogicalLine {
    int number = 0;    ///< of its first line, from 1
    int indent = 0;    ///< spaces before it
    bool bad = false;  ///< has a fault already: not worth parsing
    std::string text{};
    /// Where pieces of `text` stand: those that continue it have one each.
    struct Piece {
        std::size_t offset;
        int line, column;
    };
    std::vector<Piece> pieces{};
    std::vector<LogicalLine> body{};
    /// The last place that was asked for: most are asked for in the order of the text.
    mutable Piece counted{0, 0, 0};

    /// The place of text[offset], for `length` bytes.
    TextPlace place(std::size_t offset, std::size_t length = 1) const;
};

/// A text as a message shows it: what is behind the first 80 bytes becomes an ellipsis.
std::string shortened(std::string text);

/// Parts a text into logical lines by their indentation. Faults are added to `faults`; after one it
/// goes on with the next line, but text that is not UTF-8 or too long has no lines.
std::vector<LogicalLine> cut_lines(std::string_view text, std::vector<NetworkFault>& faults);

}  // namespace engine::network
