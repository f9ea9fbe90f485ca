#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/error.h"
#include "record/record_source.h"

namespace engine {

/// A file of columns (record/record_layout.h) to be read, and what its kind has of its own.
struct ColumnFile {
    std::filesystem::path path;
    /// The error for a file that cannot be opened; `reason`: of the system.
    Error (*missing)(const std::filesystem::path& path, const std::string& reason);
    /// Throws Error(data) unless the header is whole and of this kind. `bytes`: size of the file.
    /// If the file is shorter than a header, the header ends in zeros.
    void (*check)(const record_layout::Header& header, const std::filesystem::path& path,
                  std::int64_t bytes);
    std::size_t most_mapped = OpenRecord::default_most_mapped;
    RecordAccess access = RecordAccess::automatic;
};

/// Reads a file of columns that some process may be writing.
class ColumnReader {
public:
    /// Throws what `file` says, and Error(data) for a file that is too short for its rows.
    explicit ColumnReader(const ColumnFile& file);

    const record_layout::Header& header() const { return header_; }
    const record_layout::Layout& layout() const { return layout_; }
    /// Rows that are whole.
    std::int64_t published() const { return source_->published(); }
    /// Throws Error(data) if another program removed, replaced, overwrote or cut short the file.
    void check() const { source_->check(); }

    /// f(RecordSource::ColumnAt, rows, rows done before) for the pieces of [first, first + count),
    /// which are published. Throws Error(data) if another program changed the file meanwhile.
    template <typename F>
    void for_each_piece(std::int64_t first, std::int64_t count, const F& f) const {
        for (std::int64_t done = 0; done < count;) {
            const record_layout::Chunk chunk = layout_.chunk(layout_.chunk_of(first + done));
            const std::int64_t row = first + done - chunk.first_row;
            const std::int64_t rows = std::min(chunk.rows - row, count - done);
            source_->read(chunk, row, rows, [&](const RecordSource::ColumnAt& column_at) {
                f(column_at, rows, done);
            });
            done += rows;
        }
    }

private:
    ColumnReader(const ColumnFile& file, File opened);

    record_layout::Header header_;
    record_layout::Layout layout_;
    std::unique_ptr<RecordSource> source_;
};

}  // namespace engine
