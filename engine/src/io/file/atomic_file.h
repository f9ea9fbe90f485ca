#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/file/mapped_file.h"

namespace engine {

/// Notes a file that is not whole yet, so that remove_unfinished_files() (engine/io/named_file.h)
/// can remove it if a signal ends the program. Forgets it at its own end.
class UnfinishedFile {
public:
    UnfinishedFile() = default;
    ~UnfinishedFile() { forget(); }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    /// Call it before the file is made. A path that is too long, or one of too many at once, is not
    /// noted.
    void note(const std::string& path);
    void forget();

private:
    std::optional<std::size_t> place_;
};

/// Who named a file that is written.
enum class NamedBy {
    program,  ///< in a folder of its own: whatever has the name is replaced
    person,   ///< see write_named_file() (engine/io/named_file.h)
};

/// Writes a file beside its place and renames it at the end, so that a crash leaves either the old
/// file or the new one, whole. An uncommitted file is removed. A device or a pipe that a person
/// named is written as it comes.
class AtomicFile {
public:
    /// Throws Error(io).
    explicit AtomicFile(std::filesystem::path path, NamedBy by = NamedBy::program);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Throws Error(io), with a sentence of its own if the disk is full, and what the watcher of this
    /// thread's work throws (engine/io/work_scope.h).
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Brings the bytes to the disk and the file to its place. Throws Error(io).
    void commit();

private:
    void open_beside();
    void open_named();
    void replace(const struct stat& old);
    void write_into(int flags);
    void copy_into_place();
    void name_beside();

    std::filesystem::path path_;     ///< as it was given
    std::filesystem::path place_;    ///< behind symbolic links
    std::filesystem::path written_;  ///< the file beside it; empty: written straight into
    UnfinishedFile unfinished_;      ///< written_
    File file_;
    bool in_place_ = false;  ///< the bytes are copied into the old file at the end
    bool committed_ = false;
};

void write_file(const std::filesystem::path& path, std::string_view text);

/// Adds lines to the end of a file in one piece, making it if absent. A last line that a full disk
/// or a lost machine has cut off stays a line of its own, so that it takes no other one with it.
/// Throws Error(io), also for a symbolic link.
void append_lines(const std::filesystem::path& path, std::string_view lines);

/// The error for a file that cannot be written, by errno.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

}  // namespace engine
