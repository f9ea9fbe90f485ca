#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/record/step_record.h"

namespace engine::record_layout {

/// The file of a run's step record, `steps.rec`, little-endian:
///   a header page (Header), then chunks. A chunk holds N rows column by column: all N values of
///   the first column, all N of the second, and so on, padded to a page. N starts at
///   Header::first_chunk_rows and doubles up to Header::full_chunk_rows, so that a short run stays
///   small and a long one has few mappings.
/// Rows [0, published) are whole. A row is written first and published after it, so a process
/// killed between the two loses that row alone.
inline constexpr char file_name[] = "steps.rec";
inline constexpr std::array<char, 8> magic = {'H', 'T', 'S', 'T', 'E', 'P', 'S', '\n'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::uint32_t default_first_chunk_rows = 512;
inline constexpr std::uint32_t default_full_chunk_rows = 16384;
inline constexpr std::size_t max_columns = 128;

enum class ColumnType : std::uint8_t { none, i64, f64, i32, f32, u8 };

struct Column {
    std::array<char, 23> name;  ///< zero-padded
    ColumnType type;
};

struct Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t column_count;
    std::uint64_t checksum;  ///< of all of the header but itself and `published`
    std::int64_t published;  ///< atomic
    std::uint32_t first_chunk_rows;
    std::uint32_t full_chunk_rows;
    std::array<Column, max_columns> columns;
};
static_assert(sizeof(Header) <= page_bytes);
static_assert(sizeof(Column) == 24 && std::is_trivially_copyable_v<Header>);

template <typename T>
constexpr ColumnType column_type() {
    if constexpr (std::is_same_v<T, std::int64_t>) return ColumnType::i64;
    if constexpr (std::is_same_v<T, double>) return ColumnType::f64;
    if constexpr (std::is_same_v<T, std::int32_t>) return ColumnType::i32;
    if constexpr (std::is_same_v<T, float>) return ColumnType::f32;
    if constexpr (std::is_same_v<T, std::uint8_t>) return ColumnType::u8;
}

std::size_t item_bytes(ColumnType type);

/// Fields of StepRecord, counted at compile time: who writes a row asks for each of them.
consteval std::size_t field_count() {
    std::size_t count = 0;
    for_each_field([&count](const char*, auto) { ++count; });
    return count;
}

/// Where a chunk lies and which rows it holds.
struct Chunk {
    std::int64_t first_row;
    std::int64_t rows;
    std::int64_t offset;  ///< in the file
    std::int64_t bytes;   ///< a multiple of page_bytes
};

/// Geometry of a file from its header.
class Layout {
public:
    explicit Layout(const Header& header);

    std::int64_t chunk_of(std::int64_t row) const;
    Chunk chunk(std::int64_t index) const;
    /// The least size in bytes of a file with this many rows.
    std::int64_t file_bytes(std::int64_t rows) const;
    /// Offset of a column within a chunk, divided by the number of rows of the chunk; columns in
    /// file order.
    const std::vector<std::int64_t>& column_starts() const { return starts_; }

private:
    std::vector<std::int64_t> starts_;
    std::int64_t row_bytes_ = 0;
    std::int64_t first_rows_;
    std::int64_t full_rows_;
    std::int64_t doublings_;  ///< chunks before the first full one
};

/// The columns of a record beside those that every version writes.
struct OptionalColumns {
    bool added = true;
    bool exchange = false;   ///< between ranks
    bool card = false;       ///< figures of the GPU
    bool cpu_meter = false;  ///< energy of the processor
    bool recipe = false;     ///< casts of operands in 8 and 4 bits
};

/// A header for StepRecord with nothing published. It has these columns, and of metric_1, metric_2,
/// ... the first `metrics`.
Header make_header(std::size_t metrics = 0, const OptionalColumns& optional = {});
std::uint64_t checksum(const Header& header);
/// Appends a column; the checksum is the caller's to set when all are there.
void add_column(Header& header, std::string_view name, ColumnType type);
/// Whether the header is whole: its checksum, geometry, columns and count.
bool is_sound(const Header& header);

/// Throws Error(data) unless the header is whole and of this version. Columns may be fewer or more
/// than StepRecord has: fields are added over time.
void check_header(const Header& header, const std::filesystem::path& file);

}  // namespace engine::record_layout
