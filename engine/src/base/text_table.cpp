#include "base/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/base/plain_text.h"

namespace engine {
namespace {

/// Width in a terminal: continuation bytes of UTF-8 do not count.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

/// Makes each line have the same number of cells, each on one line.
std::vector<Cells> cleaned_cells(const std::vector<Cells>& lines) {
    std::vector<Cells> out = lines;
    for (Cells& cells : out) {
        for (std::string& cell : cells) cell = one_line(cell);
    }
    return out;
}

std::string line_of(const Cells& cells, const std::vector<std::size_t>& widths, std::size_t left) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string space(widths[i] - width_of(cells[i]), ' ');
        if (i > 0) line += "  ";
        line += i < left ? cells[i] + space : space + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

}  // namespace

std::string aligned(const std::vector<Cells>& given, std::size_t left) {
    const std::vector<Cells> lines = cleaned_cells(given);
    std::vector<std::size_t> widths(lines.front().size());
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], width_of(cells[i]));
    }
    std::string out;
    for (const auto& cells : lines) out += line_of(cells, widths, left);
    return out;
}

std::string number_text(const char* format, double value) {
    if (std::isnan(value)) return "-";
    std::array<char, 48> text;
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

}  // namespace engine
