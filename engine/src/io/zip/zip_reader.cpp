#include "io/zip/zip_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <system_error>

#include "engine/base/error.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t block_bytes = 1 << 16;

std::uint64_t size_of_file(const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    const bool regular = !error && fs::is_regular_file(status);
    const std::uint64_t bytes = regular ? fs::file_size(path, error) : 0;
    if (!error && regular) return bytes;
    throw Error(ErrorCode::data,
                msg("{}: cannot be read: {}", path.string(),
                    error ? error.message() : std::string("it is not a regular file")),
                msg("Give the path of a file."));
}

}  // namespace

void ZipReader::Free::operator()(archive* handle) const { archive_read_free(handle); }

ZipReader::ZipReader(const fs::path& path)
    : path_(path), file_bytes_(size_of_file(path)), handle_(archive_read_new()) {
    if (!handle_) throw std::bad_alloc();
    // By its directory only: data that are not listed there are no entry.
    archive_read_support_format_zip_seekable(handle_.get());
    if (archive_read_open_filename(handle_.get(), path_.c_str(), block_bytes) != ARCHIVE_OK)
        refuse(msg("it cannot be opened"));
}

ZipReader::~ZipReader() = default;

const ZipEntry* ZipReader::next() {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(handle_.get(), &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse(msg("its directory is damaged"));
    if (archive_entry_is_encrypted(entry) != 0) refuse(msg("it is encrypted"));
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    if (name == nullptr) refuse(msg("an entry has no readable name"));
    entry_.name = name;
    // A hard link has no type of its own.
    entry_.is_file =
        archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    entry_.is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    entry_.has_bytes = archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) >= 0;
    entry_.bytes = entry_.has_bytes ? static_cast<std::uint64_t>(archive_entry_size(entry)) : 0;
    return &entry_;
}

std::size_t ZipReader::read(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size()) {
        const la_ssize_t got =
            archive_read_data(handle_.get(), out.data() + done, out.size() - done);
        if (got < 0) refuse(msg("an entry cannot be unpacked"));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

void ZipReader::read_whole(std::span<std::byte> out) {
    std::byte beyond{};
    if (read(out) != out.size() || read(std::span(&beyond, 1)) != 0)
        refuse(msg("an entry does not have the stated length"));
}

std::string ZipReader::read_text(std::uint64_t most) {
    std::string text;
    std::array<std::byte, block_bytes> block{};
    for (;;) {
        const std::size_t got = read(block);
        if (text.size() + got > most) refuse(msg("an entry is too long"));
        text.append(reinterpret_cast<const char*>(block.data()), got);
        if (got < block.size()) return text;
    }
}

void ZipReader::refuse(const Message& detail) const {
    throw Error(ErrorCode::data,
                msg("{}: not a valid zip archive: {}", path_.string(), detail.str()),
                msg("Get the file again; it was probably not copied or downloaded to its end."));
}

bool is_zip(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::array<char, 4> start{};
    std::ifstream(path, std::ios::binary).read(start.data(), start.size());
    constexpr std::array<char, 4> entry{'P', 'K', 3, 4}, empty{'P', 'K', 5, 6};
    return start == entry || start == empty;
}

}  // namespace engine
