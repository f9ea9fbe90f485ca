#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace engine {

/// The lines of a file that another process appends to, as they become whole.
class LineTail {
public:
    explicit LineTail(std::filesystem::path file) : path_(std::move(file)) {}

    /// Calls take(line) for the whole lines since the last call, at most 1 MiB of them, so that a
    /// call stays short. True if there are more. Throws Error(data) for a file that was replaced or
    /// truncated, that is no plain file, or that has a line above 1 MiB. Does nothing while there
    /// is no file.
    bool read(const std::function<void(std::string_view)>& take);

private:
    void check_same(std::uint64_t device, std::uint64_t inode, std::int64_t size);

    std::filesystem::path path_;
    std::string rest_;         ///< of a line that is not whole yet
    std::int64_t offset_ = 0;  ///< of what was read
    std::uint64_t device_ = 0, inode_ = 0;
    bool found_ = false;
};

}  // namespace engine
