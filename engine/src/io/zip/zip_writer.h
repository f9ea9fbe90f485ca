#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "io/file/work_progress.h"

struct archive;
struct archive_entry;

namespace engine {

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
    /// Adds a text of so many bytes, which `give` hands over piece by piece.
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
