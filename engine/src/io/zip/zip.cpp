#include "io/zip/zip.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"

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

constexpr int no_padding = 1;

[[noreturn]] void refuse_source(const fs::path& file, const std::string& reason) {
    throw Error(ErrorCode::data, msg("{}: cannot be read: {}", file.string(), reason),
                msg("Check the permissions of the file, and the disk."));
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

/// Where libarchive writes to.
struct ZipWriter::Target {
    explicit Target(fs::path given) : path(std::move(given)), file(path, NamedBy::person) {}
    fs::path path;
    AtomicFile file;
    std::exception_ptr error;  // of the file; it must not pass through libarchive
};

void ZipWriter::Free::operator()(archive* handle) const { archive_write_free(handle); }
void ZipWriter::Free::operator()(archive_entry* entry) const { archive_entry_free(entry); }

ZipWriter::ZipWriter(fs::path path)
    : target_(std::make_unique<Target>(std::move(path))), handle_(archive_write_new()) {
    if (!handle_) throw std::bad_alloc();
    archive_write_set_format_zip(handle_.get());
    archive_write_set_bytes_in_last_block(handle_.get(), no_padding);
    const auto write_block = [](archive* handle, void* data, const void* block,
                                std::size_t bytes) -> la_ssize_t {
        auto& target = *static_cast<Target*>(data);
        try {
            target.file.write(std::span(static_cast<const std::byte*>(block), bytes));
            return static_cast<la_ssize_t>(bytes);
        } catch (...) {
            target.error = std::current_exception();
            archive_set_error(handle, EIO, "not written");
            return -1;
        }
    };
    check(archive_write_open(handle_.get(), target_.get(), nullptr, write_block, nullptr));
}

ZipWriter::~ZipWriter() = default;

void ZipWriter::begin(const std::string& name, std::int64_t bytes) {
    const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
    if (!entry) throw std::bad_alloc();
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), bytes);
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    check(archive_write_header(handle_.get(), entry.get()));
}

void ZipWriter::write(std::span<const char> bytes) {
    while (!bytes.empty()) {
        const la_ssize_t written = archive_write_data(handle_.get(), bytes.data(), bytes.size());
        if (written <= 0) check(ARCHIVE_FATAL);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void ZipWriter::add_text(const std::string& name, std::string_view text) {
    begin(name, static_cast<std::int64_t>(text.size()));
    write(text);
    work_.add(text.size());
    check(archive_write_finish_entry(handle_.get()));
}

void ZipWriter::add_pieces(const std::string& name, std::int64_t bytes,
                           const std::function<void(const Piece&)>& give) {
    begin(name, bytes);
    give([this](std::string_view piece) { write(piece); });
    check(archive_write_finish_entry(handle_.get()));
}

void ZipWriter::add_file(const std::string& name, const fs::path& file,
                         const std::function<void(std::span<char>)>& change) {
    std::error_code error;
    auto left = static_cast<std::int64_t>(fs::file_size(file, error));
    if (error) refuse_source(file, error.message());
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse_source(file, std::generic_category().message(errno));
    begin(name, left);
    std::array<char, 1 << 16> block{};
    bool is_first = true;
    while (left > 0) {
        const auto ask = std::min(left, static_cast<std::int64_t>(block.size()));
        if (!in.read(block.data(), ask)) refuse_source(file, "it became shorter while it was read");
        const std::span<char> bytes(block.data(), static_cast<std::size_t>(ask));
        if (std::exchange(is_first, false) && change)
            change(bytes.first(std::min<std::size_t>(bytes.size(), 4096)));
        write(bytes);
        work_.add(bytes.size());
        left -= ask;
    }
    check(archive_write_finish_entry(handle_.get()));
}

void ZipWriter::commit() {
    check(archive_write_close(handle_.get()));
    target_->file.commit();
}

void ZipWriter::check(int status) const {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    if (target_->error) std::rethrow_exception(target_->error);
    const char* reason = archive_error_string(handle_.get());
    throw Error(ErrorCode::io,
                msg("{}: cannot be written: {}", target_->path.string(),
                    reason != nullptr ? reason : "unknown"),
                msg("Give a folder that can be written."));
}

}  // namespace engine
