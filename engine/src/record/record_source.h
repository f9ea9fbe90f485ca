#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/message.h"
#include "engine/record/step_record.h"
#include "io/file/mapped_file.h"
#include "record/record_layout.h"

namespace engine {

/// The bytes of a step record that some process may be writing. Thread-safe.
class RecordSource {
public:
    /// Pointer to the values of a column for the rows of a piece. `start`: of column_starts().
    using ColumnAt = std::function<const std::byte*(std::int64_t start, std::size_t item_bytes)>;

    virtual ~RecordSource() = default;
    /// Rows that are whole. Never fewer than before, and never more than the file has room for.
    virtual std::int64_t published() = 0;
    /// Calls copy(ColumnAt) for `rows` published rows of a chunk, from `row` on. Throws Error(data)
    /// if another program changed the file, which invalidates the copy.
    virtual void read(const record_layout::Chunk& chunk, std::int64_t row, std::int64_t rows,
                      const std::function<void(const ColumnAt&)>& copy) = 0;
    /// Throws Error(data) if another program removed, replaced, overwrote or cut short the file.
    virtual void check() = 0;
};

/// An open file whose header was checked.
struct OpenRecord {
    static constexpr std::size_t default_max_mapped = 8;  ///< 16 MiB of a step record's full ones

    std::filesystem::path path;
    File file;
    record_layout::Header header;
    record_layout::Layout layout;
    std::size_t max_mapped = default_max_mapped;  ///< chunks at once
};

/// Reads through mappings: what the writer on this machine publishes is there at once.
std::unique_ptr<RecordSource> map_record(OpenRecord record);
/// Reads by pread and looks at the count a few times a second, opening the file anew so that a
/// network file system asks its server.
std::unique_ptr<RecordSource> poll_record(OpenRecord record);

/// Opens the file without blocking if it is no regular file. File::is_open() is false if it failed;
/// errno then says why.
File open_record_file(const std::filesystem::path& path);
/// Fills `out` from `offset`; false if the file has fewer bytes or cannot be read.
bool read_whole_at(const File& file, std::span<std::byte> out, std::int64_t offset);
/// Whether a count can be true of a file of this size.
bool is_possible(std::int64_t published, const record_layout::Layout& layout,
                 std::int64_t file_bytes);
/// Opens a record's file again and reads its header. Nothing if it is no longer the file that was
/// opened first, or if its header does not match `checksum` with at least `least` rows.
struct LatestRecord {
    File file;
    std::int64_t published;
};
std::optional<LatestRecord> reopen_record(const std::filesystem::path& path, const File& first,
                                          const record_layout::Layout& layout,
                                          std::uint64_t checksum, std::int64_t least);
[[noreturn]] void throw_record_changed(const std::filesystem::path& path);
[[noreturn]] void throw_record_cut(const std::filesystem::path& path);
[[noreturn]] void throw_record_short(const std::filesystem::path& path, std::int64_t rows);
[[noreturn]] void throw_record_unreadable(const std::filesystem::path& path, int error);

}  // namespace engine
