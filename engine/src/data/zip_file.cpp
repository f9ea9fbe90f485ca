#include "data/zip_file.h"

#include <string_view>

#include "engine/error.h"
#include "zip/zip_reader.h"

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
        for (const ZipEntry* entry = zip_.next(); entry != nullptr && entry->name != wanted;)
            entry = zip_.next();
    }
    std::size_t read(std::span<std::uint8_t> out) override {
        return zip_.read(std::as_writable_bytes(out));
    }

private:
    ZipReader zip_;
};

}  // namespace

std::unique_ptr<ByteReader> open_zip_file(const fs::path& archive) {
    return std::make_unique<ZipFileReader>(archive);
}

std::string name_in_zip(const fs::path& archive) {
    return fs::path(find_content(archive)).filename().string();
}

}  // namespace engine
