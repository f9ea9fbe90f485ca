#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

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

    /// Adds a file under this name. Throws Error(io), and Error(data) if it cannot be read or is
    /// truncated meanwhile; bytes appended meanwhile are left out. `change` may change the first 4
    /// KiB.
    void add_file(const std::string& name, const std::filesystem::path& file,
                  const std::function<void(std::span<char>)>& change = {});
    void add_text(const std::string& name, std::string_view text);
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
};

}  // namespace engine
