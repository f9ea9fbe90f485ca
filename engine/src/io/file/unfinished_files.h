#pragma once

#include <cstddef>
#include <optional>
#include <string>

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

}  // namespace engine
