#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "file/mapped_file.h"

namespace engine {

/// Writes a file beside its place and renames it at the end, so that a crash leaves either the old
/// file or the new one, whole. An uncommitted file is removed.
class AtomicFile {
public:
    /// Throws Error(io).
    explicit AtomicFile(std::filesystem::path path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Throws Error(io), with a sentence of its own if the disk is full.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Brings the bytes to the disk and the file to its place. Throws Error(io).
    void commit();

private:
    std::filesystem::path path_;
    std::filesystem::path written_;
    File file_;
    bool committed_ = false;
};

void write_file(const std::filesystem::path& path, std::string_view text);

/// Adds to the end of a file in one piece, making it if absent. Throws Error(io).
void append_to_file(const std::filesystem::path& path, std::string_view text);

/// The error for a file that cannot be written, by errno.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

}  // namespace engine
