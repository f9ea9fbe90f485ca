#include "record/record_layout.h"

#include <bit>
#include <span>

#include "engine/base/error.h"

namespace engine::record_layout {
namespace {

static_assert(std::endian::native == std::endian::little, "steps.rec is little-endian");

constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325u;
constexpr std::uint64_t fnv_prime = 0x100000001b3u;

std::uint64_t fnv1a(std::uint64_t hash, std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * fnv_prime;
    return hash;
}

bool geometry_is_sound(const Header& h) {
    constexpr std::uint32_t max_rows = 1u << 24;
    // Multiples of 64 rows keep every column aligned, whatever the types before it.
    return h.column_count > 0 && h.column_count <= max_columns &&
           std::has_single_bit(h.first_chunk_rows) && h.first_chunk_rows >= 64 &&
           std::has_single_bit(h.full_chunk_rows) && h.full_chunk_rows >= h.first_chunk_rows &&
           h.full_chunk_rows <= max_rows;
}

bool columns_are_sound(const Header& h) {
    for (std::size_t i = 0; i < h.column_count; ++i) {
        if (item_bytes(h.columns[i].type) == 0 || h.columns[i].name.back() != '\0') return false;
    }
    return true;
}

/// The number of a column metric_N; 0 for any other.
std::size_t metric_number(std::string_view column) {
    constexpr std::string_view prefix = "metric_";
    return column.starts_with(prefix) ? static_cast<std::size_t>(column.back() - '0') : 0;
}

bool has(const OptionalColumns& optional, StepColumn::Presence presence) {
    switch (presence) {
        using enum StepColumn::Presence;
        case always:
            break;
        case added:
            return optional.added;
        case of_exchange:
            return optional.exchange;
        case of_card:
            return optional.card;
        case of_cpu_meter:
            return optional.cpu_meter;
        case of_recipe:
            return optional.recipe;
    }
    return true;
}

}  // namespace

std::size_t item_bytes(ColumnType type) {
    switch (type) {
        case ColumnType::i64:
        case ColumnType::f64:
            return 8;
        case ColumnType::i32:
        case ColumnType::f32:
            return 4;
        case ColumnType::u8:
            return 1;
        case ColumnType::none:
            break;
    }
    return 0;
}

Layout::Layout(const Header& header)
    : first_rows_(header.first_chunk_rows),
      full_rows_(header.full_chunk_rows),
      doublings_(std::countr_zero(header.full_chunk_rows) -
                 std::countr_zero(header.first_chunk_rows)) {
    for (std::size_t i = 0; i < header.column_count; ++i) {
        starts_.push_back(row_bytes_);
        row_bytes_ += static_cast<std::int64_t>(item_bytes(header.columns[i].type));
    }
}

std::int64_t Layout::chunk_of(std::int64_t row) const {
    // Chunk i < doublings_ begins at row first * (2^i - 1); full ones follow at equal distances.
    const std::int64_t rows_before_full = full_rows_ - first_rows_;
    if (row >= rows_before_full) return doublings_ + (row - rows_before_full) / full_rows_;
    const auto units = static_cast<std::uint64_t>(row / first_rows_ + 1);
    return static_cast<std::int64_t>(std::bit_width(units)) - 1;
}

Chunk Layout::chunk(std::int64_t index) const {
    const auto page = static_cast<std::int64_t>(page_bytes);
    const auto padded = [&](std::int64_t rows) {
        return (rows * row_bytes_ + page - 1) / page * page;
    };
    Chunk out{0, first_rows_, page, padded(first_rows_)};
    for (std::int64_t i = 0; i < std::min(index, doublings_); ++i) {
        out = {out.first_row + out.rows, out.rows * 2, out.offset + out.bytes,
               padded(out.rows * 2)};
    }
    const std::int64_t further = std::max<std::int64_t>(index - doublings_, 0);
    out.first_row += further * out.rows;
    out.offset += further * out.bytes;
    return out;
}

std::int64_t Layout::file_bytes(std::int64_t rows) const {
    if (rows == 0) return static_cast<std::int64_t>(page_bytes);
    const Chunk last = chunk(chunk_of(rows - 1));
    return last.offset + last.bytes;
}

Header make_header(std::size_t metrics, const OptionalColumns& optional) {
    Header header{};
    header.magic = magic;
    header.version = version;
    header.first_chunk_rows = default_first_chunk_rows;
    header.full_chunk_rows = default_full_chunk_rows;
    for_each_column([&](const StepColumn& column, auto member) {
        if (metric_number(column.name) > metrics || !has(optional, column.presence)) return;
        using T = std::remove_reference_t<decltype(std::declval<StepRecord&>().*member)>;
        add_column(header, column.name, column_type<T>());
    });
    header.checksum = checksum(header);
    return header;
}

void add_column(Header& header, std::string_view name, ColumnType type) {
    Column& column = header.columns[header.column_count++];
    name.copy(column.name.data(), column.name.size() - 1);
    column.type = type;
}

std::uint64_t checksum(const Header& header) {
    Header copy = header;
    copy.published = 0;
    copy.checksum = 0;
    return fnv1a(fnv_offset, std::as_bytes(std::span(&copy, 1)));
}

bool is_sound(const Header& header) {
    return checksum(header) == header.checksum && geometry_is_sound(header) &&
           columns_are_sound(header) && header.published >= 0;
}

void check_header(const Header& header, const std::filesystem::path& file) {
    const std::string path = file.string();
    if (header.magic != magic) {
        throw Error(ErrorCode::data, msg("{}: not a step record", path),
                    msg("Give the folder of a run."));
    }
    if (header.version != version) {
        throw Error(ErrorCode::data,
                    msg("{}: a step record of version {}; this program reads version {}", path,
                        header.version, version),
                    msg("Open it with the version of Halftone that wrote it."));
    }
    if (!is_sound(header)) {
        throw Error(ErrorCode::data, msg("{}: the header of the step record is damaged", path),
                    msg("Restore the file from a copy; the settings and events of the run are kept "
                        "beside it."));
    }
}

}  // namespace engine::record_layout
