#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/base/message.h"
#include "io/file/work_progress.h"

struct archive;
struct archive_entry;

namespace engine {

/// An entry of a zip archive, as the archive's directory declares it.
struct ZipEntry {
    std::string name;      ///< UTF-8, with slashes; as written, so perhaps "../x" or "/x"
    bool is_file = false;  ///< a regular file: no folder, link or device
    bool is_folder = false;
    std::uint64_t bytes = 0;  ///< unpacked
    bool has_bytes = false;   ///< false: the archive does not say
};

/// Reads a zip archive, entry by entry in the order of their data. The directory at the end of the
/// file lists the entries. Sizes claimed by the archive allocate nothing: the caller checks an
/// entry and provides the memory.
class ZipReader {
public:
    /// Throws Error(data) if the file cannot be read or is no zip archive.
    explicit ZipReader(const std::filesystem::path& path);
    ~ZipReader();
    ZipReader(const ZipReader&) = delete;
    ZipReader& operator=(const ZipReader&) = delete;

    /// The next entry, valid until the next call; null at the end. Throws Error(data) for a damaged
    /// archive.
    const ZipEntry* next();
    /// The bytes of the entry that come next, at most out.size(): less only at its end, where its
    /// checksum is checked. Throws Error(data).
    std::size_t read(std::span<std::byte> out);
    /// Fills `out` and expects the entry to end there. Throws Error(data).
    void read_whole(std::span<std::byte> out);
    /// The whole entry as text. Throws Error(data) if it is longer than `most` bytes.
    std::string read_text(std::uint64_t most);

    /// Bytes of the archive's file.
    std::uint64_t file_bytes() const { return file_bytes_; }
    const std::filesystem::path& path() const { return path_; }

private:
    [[noreturn]] void refuse(const Message& detail) const;

    struct Free {
        void operator()(archive* handle) const;
    };
    std::filesystem::path path_;
    std::uint64_t file_bytes_ = 0;
    std::unique_ptr<archive, Free> handle_;
    ZipEntry entry_;
};

/// Whether the file begins as a zip archive does. False for what cannot be read.
bool is_zip(const std::filesystem::path& path);

/// Writes a zip archive beside its place and renames it there at the end, as AtomicFile does.
class ZipWriter {
public:
    /// Throws Error(io).
    explicit ZipWriter(std::filesystem::path path);
    ~ZipWriter();
    ZipWriter(const ZipWriter&) = delete;
    ZipWriter& operator=(const ZipWriter&) = delete;

    /// The bytes of all files that will be added: their share is reported as the work's progress
    /// (io/file/work_progress.h).
    void expect(std::uint64_t bytes) { work_ = WorkCount(bytes); }

    /// Adds a file under this name. Throws Error(io), and Error(data) if it cannot be read or is
    /// truncated meanwhile; bytes appended meanwhile are left out. `change` may change the first 4
    /// KiB.
    void add_file(const std::string& name, const std::filesystem::path& file,
                  const std::function<void(std::span<char>)>& change = {});
    void add_text(const std::string& name, std::string_view text);
    /// Adds a text of `bytes` bytes, which `give` passes piece by piece.
    using Piece = std::function<void(std::string_view)>;
    void add_pieces(const std::string& name, std::int64_t bytes,
                    const std::function<void(const Piece&)>& give);
    /// Throws Error(io).
    void commit();

private:
    struct Free {
        void operator()(archive* handle) const;
        void operator()(archive_entry* entry) const;
    };
    struct Target;

    void begin(const std::string& name, std::int64_t bytes);
    void write(std::span<const char> bytes);
    void check(int status) const;

    std::unique_ptr<Target> target_;
    std::unique_ptr<archive, Free> handle_;
    WorkCount work_{0};
};

}  // namespace engine
