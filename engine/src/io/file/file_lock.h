#pragma once

#include <filesystem>
#include <optional>

#include "io/file/mapped_file.h"

namespace engine {

/// An exclusive lock on a file, made if absent; freed by the destructor and by the process's death.
/// File systems without locks, and those that lock within one machine alone, let everybody have it:
/// what must have one holder has a Lease, too.
class FileLock {
public:
    FileLock() = default;
    /// Waits for it. Throws Error(io) if the file cannot be made.
    static FileLock take(const std::filesystem::path& path);
    /// Takes it if nobody holds it. Throws Error(io) if the file cannot be made.
    static std::optional<FileLock> try_take(const std::filesystem::path& path);
    /// True if some process holds it.
    static bool is_held(const std::filesystem::path& path);
    /// The locked file.
    const File& file() const { return file_; }

    using Function = int (*)(int descriptor, int operation);
    /// Stands in for flock(2) until it is called with null: tests of file systems without locks.
    static void replace_flock(Function function);

private:
    explicit FileLock(File file) : file_(std::move(file)) {}
    File file_;
};

}  // namespace engine
