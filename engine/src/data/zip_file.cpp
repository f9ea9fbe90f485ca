#include "data/zip_file.h"

#include <algorithm>
#include <string_view>

#include "engine/base/error.h"
#include "io/zip/zip_reader.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// A file that somebody packed, not one that a system left behind.
bool is_content(const ZipEntry& entry) {
    const std::string name = fs::path(entry.name).filename().string();
    const bool leftover = entry.name.starts_with("__MACOSX/") || name.starts_with('.') ||
                          name == "Thumbs.db" || name == "desktop.ini";
    return entry.is_file && !leftover;
}

/// Its name in the archive.
std::string find_content(const fs::path& archive) {
    ZipReader zip(archive);
    std::string found;
    std::size_t count = 0;
    while (const ZipEntry* entry = zip.next()) {
        if (is_content(*entry) && ++count == 1) found = entry->name;
    }
    if (count == 1) return found;
    throw Error(ErrorCode::data,
                msg("{}: a zip archive of {} files; only one of a single file is read",
                    archive.string(), count),
                msg("Unpack it, and give the path of the file or folder."));
}

class ZipFileReader final : public ByteReader {
public:
    explicit ZipFileReader(const fs::path& archive) : zip_(archive) {
        const std::string wanted = find_content(archive);
        const ZipEntry* entry = zip_.next();
        while (entry != nullptr && entry->name != wanted) entry = zip_.next();
        if (entry != nullptr) bytes_ = static_cast<std::int64_t>(entry->bytes);
    }
    std::size_t read(std::span<std::uint8_t> out) override {
        const std::size_t got = zip_.read(std::as_writable_bytes(out));
        done_ += static_cast<std::int64_t>(got);
        return got;
    }
    ReadingShare share() const override { return {std::min(done_, bytes_), bytes_, true}; }

private:
    ZipReader zip_;
    std::int64_t done_ = 0, bytes_ = 0;  ///< unpacked
};

}  // namespace

std::unique_ptr<ByteReader> open_zip_file(const fs::path& archive) {
    return std::make_unique<ZipFileReader>(archive);
}

std::string name_in_zip(const fs::path& archive) {
    return fs::path(find_content(archive)).filename().string();
}

}  // namespace engine
