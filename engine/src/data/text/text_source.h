#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "data/byte_reader.h"
#include "engine/base/message.h"

namespace engine {

/// Reads a text file (plain, .gz or .xz) in pieces of bounded size. Each piece is valid UTF-8
/// without NUL and ends at a character boundary. Line ends and byte order marks are as
/// normalise_text() leaves them.
class TextSource {
public:
    static constexpr std::size_t piece_bytes = std::size_t{256} << 10;

    /// Throws Error(data) as open_packed() does.
    TextSource(std::filesystem::path file, bool lowercase, const std::stop_token& stop = {});

    /// The next piece, valid until the next call; empty at the end of the file. Throws Error(data)
    /// naming the line for invalid bytes, and at the end if the file held nothing but white space;
    /// also ReadingStopped.
    std::string_view next();

private:
    std::string_view fill();
    void check(std::string_view raw) const;
    void count_lines(std::string_view raw);
    std::string_view normalise(std::string_view raw, bool at_line_start);
    [[noreturn]] void refuse(Message message) const;

    std::filesystem::path file_;
    std::unique_ptr<ByteReader> reader_;
    bool lowercase_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;    // bytes of buffer_ that earlier pieces took
    std::size_t filled_ = 0;  // bytes in buffer_
    bool at_start_ = true;
    bool ended_ = false;
    bool blank_ = true;         // nothing but white space so far
    std::int64_t lines_ = 0;    // line ends before buffer_[used_]
    std::int64_t in_line_ = 0;  // bytes of the line before buffer_[used_]
};

/// Lower case of a letter of ASCII, Latin-1, Latin Extended-A, Greek (U+0386 to U+03AB) or Cyrillic
/// (U+0400 to U+042F); any other character as it is. The result has as many bytes in UTF-8 as
/// `character`, so İ (U+0130) stays.
char32_t lower_case(char32_t character);

/// Lowers each character of valid UTF-8, in place.
void lower_case(std::span<char> text);

}  // namespace engine
