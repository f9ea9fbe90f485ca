#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "io/zip/zip.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// The source for libarchive. Our reader does the unpacking, because libarchive does not verify
/// checksums.
struct Source {
    std::unique_ptr<ByteReader> reader;
    std::vector<std::uint8_t> block = std::vector<std::uint8_t>(1 << 16);
    std::exception_ptr error;  // of the reader; it must not pass through libarchive
};

la_ssize_t read_block(archive* handle, void* data, const void** block) {
    auto& source = *static_cast<Source*>(data);
    *block = source.block.data();
    try {
        return static_cast<la_ssize_t>(source.reader->read(source.block));
    } catch (...) {
        source.error = std::current_exception();
        archive_set_error(handle, EIO, "unreadable");
        return -1;
    }
}

class TarReader {
public:
    TarReader(const fs::path& file, const ReadOptions& options)
        : file_(file), handle_(archive_read_new()) {
        if (!handle_) throw std::bad_alloc();
        source_.reader = open_packed(file, options);
        archive_read_support_format_tar(handle_.get());
        if (archive_read_open(handle_.get(), &source_, nullptr, read_block, nullptr) !=
            ARCHIVE_OK) {
            fail();
        }
    }

    /// The next entry; null at the end.
    archive_entry* next() {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(handle_.get(), &entry);
        if (status == ARCHIVE_EOF) return nullptr;
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail();
        return entry;
    }

    std::size_t read(std::span<std::uint8_t> out) {
        std::size_t done = 0;
        while (done < out.size()) {
            const la_ssize_t got =
                archive_read_data(handle_.get(), out.data() + done, out.size() - done);
            if (got < 0) fail();
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

private:
    [[noreturn]] void fail() {
        if (source_.error) std::rethrow_exception(source_.error);
        throw Error(
            ErrorCode::data, msg("{}: not a whole tar archive", file_.string()),
            msg("Get the file again; it was probably not copied or downloaded to its end."));
    }

    struct Free {
        void operator()(archive* handle) const { archive_read_free(handle); }
    };
    fs::path file_;
    Source source_;
    std::unique_ptr<archive, Free> handle_;
};

class EntryReader final : public ByteReader {
public:
    explicit EntryReader(TarReader& tar) : tar_(tar) {}
    std::size_t read(std::span<std::uint8_t> out) override { return tar_.read(out); }

private:
    TarReader& tar_;
};

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

bool is_archive(const fs::path& file) {
    const std::string name = file.filename().string();
    for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz"}) {
        if (name.ends_with(ending)) return true;
    }
    std::array<std::uint8_t, 512> header{};
    try {
        if (open_packed(file)->read(header) < header.size()) return false;
    } catch (const Error&) {
        return false;
    }
    constexpr std::string_view magic = "ustar";
    return std::equal(magic.begin(), magic.end(), header.begin() + 257);
}

void for_each_entry(const fs::path& archive,
                    const std::function<bool(const std::string&, ByteReader&)>& visit,
                    const ReadOptions& options) {
    TarReader tar(archive, options);
    while (archive_entry* entry = tar.next()) {
        const char* name = archive_entry_pathname(entry);
        if (archive_entry_filetype(entry) != AE_IFREG || name == nullptr) continue;
        EntryReader reader(tar);
        if (!visit(fs::path(name).filename().string(), reader)) return;
    }
}

std::unique_ptr<ByteReader> open_zip_file(const fs::path& archive) {
    return std::make_unique<ZipFileReader>(archive);
}

std::string name_in_zip(const fs::path& archive) {
    return fs::path(find_content(archive)).filename().string();
}

}  // namespace engine
