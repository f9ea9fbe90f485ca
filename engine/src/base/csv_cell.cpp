#include "engine/base/csv_cell.h"

namespace engine {

std::string csv_cell(std::string_view text, bool raw) {
    constexpr std::string_view formula_starts = "=+-@\t\r";
    const bool formula =
        !raw && !text.empty() && formula_starts.find(text.front()) != std::string_view::npos;
    std::string out = formula ? "'" : "";
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return out.append(text);
    out.insert(0, 1, '"');
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace engine
