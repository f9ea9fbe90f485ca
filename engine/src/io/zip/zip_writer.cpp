#include "io/zip/zip_writer.h"

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

/// Where libarchive writes to.
struct ZipWriter::Target {
    explicit Target(fs::path given) : path(std::move(given)), file(path, NamedBy::person) {}
    fs::path path;
    AtomicFile file;
    std::exception_ptr error;  // of the file; it must not pass through libarchive
};

namespace {

constexpr int no_padding = 1;

[[noreturn]] void refuse_source(const fs::path& file, const std::string& reason) {
    throw Error(ErrorCode::data, msg("{}: cannot be read: {}", file.string(), reason),
                msg("Check the permissions of the file, and the disk."));
}

}  // namespace

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
