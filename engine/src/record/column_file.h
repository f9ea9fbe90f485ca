#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "io/file/mapped_access.h"
#include "io/file/mapped_file.h"
#include "record/record_layout.h"
#include "record/record_source.h"

namespace engine {

/// Writes a file of mapped columns (record/record_layout.h). One thread; readers may read in any
/// thread or process meanwhile. No call waits for the disk, and what is published survives the
/// death of the process.
class ColumnWriter {
public:
    /// Makes the file, which is not there. Throws Error(io).
    static ColumnWriter create(const std::filesystem::path& path,
                               const record_layout::Header& header);
    /// An open file of this header, whose rows go_on_after() takes over. Throws Error(io).
    ColumnWriter(File file, std::filesystem::path path, const record_layout::Header& header);

    /// Whether the file has room for this many published rows.
    bool can_hold(std::int64_t rows) const { return file_.size() >= layout_.file_bytes(rows); }
    /// The next row is number `rows`; the rows from there on are taken back.
    void go_on_after(std::int64_t rows);

    /// Writes rows column after column: each lies in pages of its own. for_each_value(f) calls
    /// f(column, value_of) for each column of the file that has one; value_of(row): the value
    /// there. Readers do not see the rows before publish(). Throws Error(io) if the disk has no
    /// room for the next chunk; the rows before stay whole, and a later call tries again. Throws
    /// Error(data) if it finds that another program cut the file short.
    template <typename Row, typename ForEach>
    void write_rows(std::span<const Row> rows, const ForEach& for_each_value) {
        const std::int64_t count = std::ssize(rows);
        for (std::int64_t first = 0; first < count;) {
            if (row_ == rows_) next_chunk();
            const std::int64_t n = std::min(count - first, rows_ - row_);
            const MappedAccess access(chunk_);
            for_each_value([&](std::size_t column, const auto& value_of) {
                using T = std::remove_cvref_t<decltype(value_of(rows.front()))>;
                std::byte* to = columns_[column] + row_ * static_cast<std::int64_t>(sizeof(T));
                for (std::int64_t i = first; i < first + n; ++i, to += sizeof(T)) {
                    const T value = value_of(rows[static_cast<std::size_t>(i)]);
                    std::memcpy(to, &value, sizeof value);
                }
            });
            if (chunk_.is_lost()) throw_lost();
            row_ += n;
            written_ += n;
            first += n;
        }
    }
    /// Publishes the rows written so far.
    void publish();
    /// Rows published so far.
    std::int64_t published() const { return published_; }
    /// Throws Error(data) if another program removed the file, cut it short or overwrote its
    /// header. write_rows() notices only a page that is gone; call this now and then.
    void check() const;
    const std::filesystem::path& path() const { return path_; }

private:
    void next_chunk();
    void use_chunk(const record_layout::Chunk& chunk);
    std::int64_t bytes_so_far() const;
    [[noreturn]] void throw_lost() const;

    std::filesystem::path path_;
    File file_;
    Mapping header_;
    std::uint64_t checksum_;
    record_layout::Layout layout_;
    Mapping chunk_;
    std::vector<std::byte*> columns_;
    std::int64_t row_ = 0;      ///< within the chunk
    std::int64_t rows_ = 0;     ///< of the chunk
    std::int64_t written_ = 0;  ///< in the file, published or not
    std::int64_t published_ = 0;
};

/// Opens a file of columns for writing. Throws Error(io).
File open_columns(const std::filesystem::path& path);

/// A file of columns (record/record_layout.h) to be read, and what its kind has of its own.
struct ColumnFile {
    std::filesystem::path path;
    /// The error for a file that cannot be opened; `reason`: of the system.
    Error (*missing)(const std::filesystem::path& path, const std::string& reason);
    /// Throws Error(data) unless the header is whole and of this kind. `bytes`: size of the file.
    /// If the file is shorter than a header, the header ends in zeros.
    void (*check)(const record_layout::Header& header, const std::filesystem::path& path,
                  std::int64_t bytes);
    std::size_t max_mapped = OpenRecord::default_max_mapped;
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

    /// Copies rows of the file. for_each_value(f) calls f(column, value_of) for each column that is
    /// read; value_of(row): where its value goes. Throws as for_each_piece().
    template <typename Row, typename ForEach>
    void read_rows(std::int64_t first, std::span<Row> rows, const ForEach& for_each_value) const {
        for_each_piece(
            first, std::ssize(rows),
            [&](const RecordSource::ColumnAt& column_at, std::int64_t count, std::int64_t done) {
                for_each_value([&](std::size_t column, const auto& value_of) {
                    using T = std::remove_reference_t<decltype(value_of(rows.front()))>;
                    const std::byte* from = column_at(layout_.column_starts()[column], sizeof(T));
                    for (std::int64_t i = done; i < done + count; ++i, from += sizeof(T))
                        std::memcpy(&value_of(rows[static_cast<std::size_t>(i)]), from, sizeof(T));
                });
            });
    }

private:
    ColumnReader(const ColumnFile& file, File opened);

    record_layout::Header header_;
    record_layout::Layout layout_;
    std::unique_ptr<RecordSource> source_;
};

}  // namespace engine
