#include "engine/base/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace engine {
namespace {

/// A character of UTF-8; no bytes: there is none.
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

/// Bytes of the character that begins with this one; 0 if none does.
std::size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

Character first_of(std::string_view text) {
    const std::size_t bytes = length_of(static_cast<unsigned char>(text.front()));
    if (bytes == 0 || bytes > text.size()) return {};
    if (bytes == 1) return {static_cast<unsigned char>(text.front()), 1};
    std::uint32_t code = static_cast<unsigned char>(text.front()) & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if (!goes_on(text[i])) return {};
        code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[bytes] || code > 0x10FFFF || surrogate ? Character{}
                                                               : Character{code, bytes};
}

bool is_control(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool is_white(std::uint32_t code) { return code == '\n' || code == '\t' || code == '\r'; }

std::string cleaned(std::string_view text, bool lines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto plain = std::find_if(text.begin(), text.end(),
                                        [](unsigned char c) { return c < ' ' || c >= 0x7F; });
        out.append(text.begin(), plain);
        text.remove_prefix(static_cast<std::size_t>(plain - text.begin()));
        if (text.empty()) break;
        const Character next = first_of(text);
        if (next.bytes == 0) {
            out += "\xEF\xBF\xBD";
        } else if (is_white(next.code) && (!lines || next.code != '\r')) {
            out += lines ? text.front() : ' ';
        } else if (is_control(next.code)) {
            char escape[16];
            std::snprintf(escape, sizeof escape, "\\u%04x", next.code);
            out += escape;
        } else {
            out.append(text.substr(0, next.bytes));
        }
        text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    return out;
}

struct WordPair {
    std::string_view plural, singular;
};
/// Words that are counted in sentences. "runs" is left out: "Rank 1 runs version 2" counts nothing.
constexpr WordPair counted[] = {
    {"batches", "batch"}, {"blocks", "block"}, {"bytes", "byte"}, {"characters", "character"},
    {"checkpoints", "checkpoint"}, {"choices", "choice"}, {"classes", "class"},
    {"columns", "column"}, {"dimensions", "dimension"}, {"epochs", "epoch"}, {"events", "event"},
    {"features", "feature"}, {"fields", "field"}, {"files", "file"}, {"images", "image"},
    {"labels", "label"}, {"layers", "layer"}, {"lessons", "lesson"}, {"lines", "line"},
    {"more", "more"}, {"operations", "operation"}, {"parameters", "parameter"},
    {"pictures", "picture"}, {"pixels", "pixel"}, {"points", "point"}, {"processes", "process"},
    {"records", "record"}, {"rows", "row"}, {"samples", "sample"},
    {"seeds", "seed"}, {"steps", "step"}, {"tensors", "tensor"}, {"terms", "term"},
    {"tokens", "token"}, {"updates", "update"}, {"values", "value"}, {"weights", "weight"},
    {"words", "word"}};
/// Words that may stand between the number and the counted one.
constexpr std::string_view between[] = {"added",    "applied",  "different", "master",
                                        "non-finite", "recorded", "short",   "test",
                                        "training", "validation"};
constexpr WordPair verbs[] = {
    {"are", "is"}, {"do", "does"}, {"have", "has"}, {"need", "needs"}, {"were", "was"}};

/// The word behind a space at `at`; empty if there is none, or one that goes on, as in "rows/s".
std::string_view word_at(std::string_view text, std::size_t at) {
    if (at >= text.size() || text[at] != ' ') return {};
    const std::size_t end = std::min(
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 1), text.size());
    const bool ends =
        end == text.size() || std::string_view(" .,;:)").find(text[end]) != std::string_view::npos;
    return ends ? text.substr(at + 1, end - at - 1) : std::string_view();
}

/// Replaces the word at `at` by its singular, if the list has it; returns where it ends then.
std::optional<std::size_t> make_singular(std::string& text, std::size_t at,
                                         std::span<const WordPair> list) {
    const std::string_view word = word_at(text, at);
    const auto found = std::ranges::find(list, word, &WordPair::plural);
    if (found == list.end()) return std::nullopt;
    text.replace(at + 1, word.size(), found->singular);
    return at + 1 + found->singular.size();
}

}  // namespace

std::string with_singulars(std::string_view text, std::span<const std::string> values) {
    std::string out(text);
    std::size_t at = 0;
    for (const std::string& value : values) {
        at = out.find("{}", at);
        if (at == std::string::npos) break;
        at += 2;
        if (value != "1") continue;
        std::size_t noun = at;
        while (std::ranges::find(between, word_at(out, noun)) != std::end(between))
            noun += 1 + word_at(out, noun).size();
        if (const auto end = make_singular(out, noun, counted)) make_singular(out, *end, verbs);
    }
    return out;
}

std::string printable(std::string_view text) { return cleaned(text, /*lines=*/true); }
std::string one_line(std::string_view text) { return cleaned(text, /*lines=*/false); }

std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::size_t cut_character(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const char c = text[text.size() - back];
        if (goes_on(c)) continue;
        return length_of(static_cast<unsigned char>(c)) > back ? back : 0;
    }
    return 0;
}

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
