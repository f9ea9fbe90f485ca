#pragma once

#include <filesystem>
#include <vector>

namespace engine {

/// The folders of runs outside the root of a history: a list beside its index, which can be built
/// again from the folders under the root and from these. A line that is lost because two programs
/// change the list at the same time is added at the next start, from the index.
class OutsideFolders {
public:
    explicit OutsideFolders(std::filesystem::path root) : root_(std::move(root)) {}

    /// Adds the folders that are outside the root and not in the list. What cannot be written is
    /// added at a later start.
    void add(const std::vector<std::filesystem::path>& folders);
    void remove(const std::filesystem::path& folder);
    /// As they are listed. Some may be gone, or away for a while. Damaged lines are left out.
    std::vector<std::filesystem::path> all() const;

private:
    std::filesystem::path file() const { return root_ / "outside.jsonl"; }

    std::filesystem::path root_;
};

}  // namespace engine
