#include "data/text/text_source.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text_utf8.h"
#include "engine/base/error.h"

namespace engine {
namespace {

/// The number of bytes that can be returned while more may follow: whole characters, and no "\r"
/// whose "\n" may be next.
std::size_t usable(std::string_view raw) {
    std::size_t size = whole_characters(raw);
    if (size > 0 && raw[size - 1] == '\r') --size;
    return size;
}

bool is_blank(std::string_view text) {
    while (!text.empty()) {
        const std::size_t space = white_space_at_start(text);
        if (space == 0) return false;
        text.remove_prefix(space);
    }
    return true;
}

bool within(char32_t character, char32_t first, char32_t last) {
    return character >= first && character <= last;
}

/// Latin Extended-A alternates capitals and small letters, from an even or an odd code point.
char32_t lower_extended_a(char32_t c) {
    if (c == 0x178) return 0xFF;
    if (c == 0x130 || c == 0x138 || c == 0x149 || c == 0x17F) return c;
    const bool odd_capitals = within(c, 0x139, 0x148) || within(c, 0x179, 0x17E);
    const bool capital = (c % 2 == 1) == odd_capitals;
    return capital ? c + 1 : c;
}

char32_t lower_greek(char32_t c) {
    if (within(c, 0x391, 0x3AB) && c != 0x3A2) return c + 0x20;
    switch (c) {
        case 0x386:
            return 0x3AC;
        case 0x388:
        case 0x389:
        case 0x38A:
            return c + 0x25;
        case 0x38C:
            return 0x3CC;
        case 0x38E:
        case 0x38F:
            return c + 0x3F;
        default:
            return c;
    }
}

}  // namespace

TextSource::TextSource(std::filesystem::path file, bool lowercase, const std::stop_token& stop)
    : file_(std::move(file)),
      reader_(open_packed(file_, {.stop = stop})),
      lowercase_(lowercase),
      buffer_(piece_bytes) {}

std::string_view TextSource::next() {
    while (!ended_) {
        const std::string_view raw = fill();
        check(raw);
        const bool at_line_start = in_line_ == 0;
        count_lines(raw);
        at_start_ = false;
        const std::string_view piece = normalise(raw, at_line_start);
        blank_ = blank_ && is_blank(piece);
        if (ended_ && blank_) refuse(msg("{}: holds no text, only white space", file_.string()));
        if (!piece.empty()) return piece;
    }
    return {};
}

std::string_view TextSource::fill() {
    const std::size_t held = filled_ - used_;
    std::memmove(buffer_.data(), buffer_.data() + used_, held);
    const std::size_t ask = buffer_.size() - held;
    const std::size_t got =
        reader_->read({reinterpret_cast<std::uint8_t*>(buffer_.data()) + held, ask});
    filled_ = held + got;
    ended_ = got < ask;
    const std::string_view all(buffer_.data(), filled_);
    used_ = ended_ ? filled_ : usable(all);
    return all.substr(0, used_);
}

void TextSource::check(std::string_view raw) const {
    if (at_start_ && raw.empty()) refuse(msg("{}: the file is empty", file_.string()));
    if (at_start_ && begins_as_utf16(raw))
        refuse(msg("{}, line {}: begins with the byte order mark of UTF-16", file_.string(), 1));
    const std::size_t bad = first_bad_byte(raw);
    if (bad == raw.size()) return;
    const std::string_view before = raw.substr(0, bad);
    const auto line = lines_ + 1 + std::count(before.begin(), before.end(), '\n');
    if (raw[bad] == '\0') {
        refuse(
            msg("{}, line {}: contains a NUL byte, so it is not UTF-8 text", file_.string(), line));
    }
    const std::size_t line_end = before.rfind('\n');
    const auto byte = line_end == std::string_view::npos
                          ? in_line_ + static_cast<std::int64_t>(bad) + 1
                          : static_cast<std::int64_t>(bad - line_end);
    refuse(msg("{}, line {}: not valid UTF-8 at byte {} of the line", file_.string(), line, byte));
}

void TextSource::count_lines(std::string_view raw) {
    const std::size_t line_end = raw.rfind('\n');
    if (line_end == std::string_view::npos) {
        in_line_ += static_cast<std::int64_t>(raw.size());
        return;
    }
    lines_ += std::count(raw.begin(), raw.end(), '\n');
    in_line_ = static_cast<std::int64_t>(raw.size() - line_end) - 1;
}

std::string_view TextSource::normalise(std::string_view raw, bool at_line_start) {
    const std::span<char> text(buffer_.data() + (raw.data() - buffer_.data()), raw.size());
    if (lowercase_) lower_case(text);
    return {text.data(), normalise_text(text, at_line_start)};
}

void TextSource::refuse(Message message) const {
    throw Error(ErrorCode::data, std::move(message),
                msg("Give a plain text file with UTF-8 encoding."));
}

char32_t lower_case(char32_t c) {
    if (within(c, 'A', 'Z')) return c + 0x20;
    if (within(c, 0xC0, 0xDE))
        return c == 0xD7 ? c : c + 0x20;  // U+00D7 is the multiplication sign
    if (within(c, 0x100, 0x17F)) return lower_extended_a(c);
    if (within(c, 0x386, 0x3AB)) return lower_greek(c);
    if (within(c, 0x400, 0x40F)) return c + 0x50;
    if (within(c, 0x410, 0x42F)) return c + 0x20;
    return c;
}

void lower_case(std::span<char> text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto lead = static_cast<std::uint8_t>(text[i]);
        if (lead < 0x80) {
            text[i] = static_cast<char>(lower_case(char32_t{lead}));
            continue;
        }
        // All other letters with a lower case here have two bytes.
        if (lead < 0xC0 || lead >= 0xE0) continue;
        const auto second = static_cast<std::uint8_t>(text[i + 1]);
        const char32_t lower = lower_case(char32_t{(lead & 0x1FU) << 6 | (second & 0x3FU)});
        text[i] = static_cast<char>(0xC0U | lower >> 6);
        text[++i] = static_cast<char>(0x80U | (lower & 0x3FU));
    }
}

}  // namespace engine
