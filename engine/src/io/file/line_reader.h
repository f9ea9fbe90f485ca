#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "io/file/mapped_file.h"

namespace engine {

/// The lines of a file, one after another, so that a file of any size takes the memory of its
/// longest line. Reads what the file held when it was opened. A file that is absent or not a
/// regular one has no lines.
class LineReader {
public:
    /// Lines of more than `longest` bytes are passed over.
    explicit LineReader(const std::filesystem::path& file,
                        std::size_t longest = std::size_t{1} << 20);

    /// The next line, without its end; false after the last one.
    bool next(std::string& line);
    /// Lines so far, with those that were passed over.
    std::int64_t count() const { return count_; }

private:
    bool fill();

    File file_;
    std::size_t longest_;
    std::int64_t left_ = 0;    ///< bytes of the file that were not read
    std::int64_t offset_ = 0;  ///< of what was read
    std::string buffer_;
    std::size_t at_ = 0;  ///< in the buffer
    std::int64_t count_ = 0;
};

}  // namespace engine
