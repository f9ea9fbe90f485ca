#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace fuzz {

/// Splits bytes into the files of a folder. For each file: its index in `names`, its size in three
/// bytes (least significant first), and its bytes, as many as remain. seeds.py writes this form.
class FolderInput {
public:
    FolderInput(std::vector<std::string> names, const std::uint8_t* data, std::size_t size)
        : names_(std::move(names)), rest_(data, size) {}

    /// Creates the folder again with these files. An invalid index discards its bytes.
    void write_to(const std::filesystem::path& folder) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        while (rest_.size() >= head) write_file(folder);
    }

private:
    static constexpr std::size_t head = 4;

    void write_file(const std::filesystem::path& folder) {
        const std::size_t name = rest_[0];
        const std::size_t wanted = rest_[1] | rest_[2] << 8U | std::size_t{rest_[3]} << 16U;
        const std::size_t size = std::min(wanted, rest_.size() - head);
        if (name < names_.size()) {
            std::ofstream(folder / names_[name], std::ios::binary)
                .write(reinterpret_cast<const char*>(&rest_[head]),
                       static_cast<std::streamsize>(size));
        }
        rest_ = rest_.subspan(head + size);
    }

    std::vector<std::string> names_;
    std::span<const std::uint8_t> rest_;
};

}  // namespace fuzz
