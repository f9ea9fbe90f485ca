#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <system_error>

#include "engine/error.h"
#include "engine/step_record.h"
#include "file/mapped_access.h"
#include "store/record_layout.h"

namespace engine {
namespace {

constexpr std::int64_t absent = -1;
constexpr std::size_t most_mapped = 8;  // chunks: 16 MiB of full ones

/// For each field of StepRecord: the start of its column, or absent in a file of an earlier
/// program.
using FieldStarts = std::array<std::int64_t, record_layout::field_count()>;

FieldStarts find_fields(const record_layout::Header& header, const record_layout::Layout& layout,
                        const std::filesystem::path& path) {
    FieldStarts starts;
    starts.fill(absent);
    std::size_t field = 0;
    for_each_field([&](const char* name, auto member) {
        using T = std::remove_reference_t<decltype(std::declval<StepRecord&>().*member)>;
        for (std::size_t i = 0; i < header.column_count; ++i) {
            if (std::strcmp(header.columns[i].name.data(), name) != 0) continue;
            if (header.columns[i].type != record_layout::column_type<T>()) {
                throw Error(
                    ErrorCode::data,
                    msg("{}: column {} of the step record has another type", path.string(), name),
                    msg("Open it with the version of Halftone that wrote it."));
            }
            starts[field] = layout.column_starts()[i];
        }
        ++field;
    });
    return starts;
}

template <typename T>
std::size_t field_index(T StepRecord::*wanted) {
    std::size_t index = 0;
    std::size_t found = record_layout::field_count();
    for_each_field([&](const char*, auto member) {
        if constexpr (std::is_same_v<decltype(member), T StepRecord::*>) {
            if (member == wanted) found = index;
        }
        ++index;
    });
    return found;
}

/// What a field reads as where the file does not have it.
template <typename T>
constexpr T missing_value() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
    return T{};
}

[[noreturn]] void throw_lost(const std::filesystem::path& path) {
    throw Error(ErrorCode::data,
                msg("{}: the step record was cut short by another program", path.string()),
                msg("Restore the file from a copy."));
}

[[noreturn]] void throw_short(const std::filesystem::path& path, std::int64_t rows) {
    throw Error(ErrorCode::data,
                msg("{}: the step record is cut off: the file is too short for its {} steps",
                    path.string(), rows),
                msg("Restore the file from a copy."));
}

}  // namespace

struct StepRecordReader::Impl {
    std::filesystem::path path;
    File file;
    Mapping header;
    record_layout::Layout layout;
    FieldStarts starts;
    std::atomic<std::int64_t> known{0};  ///< the highest count that was read
    std::atomic<bool> shrunk{false};     ///< a lower one came after it: the header was lost
    std::mutex mutex;  ///< guards what follows: copies of a reader may be used by several threads
    struct Held {
        std::int64_t index;
        std::shared_ptr<const Mapping> mapping;
    };
    std::vector<Held> held;  ///< latest used last

    Impl(std::filesystem::path path_, File file_, Mapping header_, record_layout::Layout layout_,
         FieldStarts starts_)
        : path(std::move(path_)),
          file(std::move(file_)),
          header(std::move(header_)),
          layout(std::move(layout_)),
          starts(starts_) {}

    std::int64_t published() {
        const auto* h = reinterpret_cast<const record_layout::Header*>(header.data());
        std::int64_t before = known;  // read first: whoever stored it had seen that many published
        const MappedAccess access(header);
        const std::int64_t now = __atomic_load_n(&h->published, __ATOMIC_ACQUIRE);
        if (now < before) {
            shrunk = true;
            return before;
        }
        while (before < now && !known.compare_exchange_weak(before, now)) {
        }
        return now;
    }

    /// What was copied is worth something only if the file still held it afterwards: the last page
    /// of a file that was cut short reads as zeros, without a fault.
    void check_whole(const Mapping& chunk, std::int64_t index) const {
        const record_layout::Chunk where = layout.chunk(index);
        const bool whole = !chunk.is_lost() && !shrunk && file.size() >= where.offset + where.bytes;
        if (!whole) throw_lost(path);
    }

    /// Only the chunks used latest stay mapped: a run of hours would otherwise fill the memory
    /// with its own history. Who still reads a chunk that goes keeps it by the pointer.
    std::shared_ptr<const Mapping> chunk_at(std::int64_t index) {
        const std::lock_guard lock(mutex);
        const auto found = std::find_if(held.begin(), held.end(),
                                        [&](const Held& each) { return each.index == index; });
        if (found != held.end()) {
            std::rotate(found, found + 1, held.end());
            return held.back().mapping;
        }
        auto mapping = std::make_shared<const Mapping>(map_chunk(index));
        if (held.size() == most_mapped) held.erase(held.begin());
        held.push_back({index, mapping});
        return mapping;
    }

    Mapping map_chunk(std::int64_t index) const {
        const record_layout::Chunk chunk = layout.chunk(index);
        if (file.size() < chunk.offset + chunk.bytes) throw_short(path, known);
        Mapping mapping(file, chunk.offset, chunk.bytes, Mapping::Access::read);
        if (mapping.data() == nullptr) {
            throw Error(ErrorCode::data, msg("{}: cannot map the step record: {}", path.string(),
                                             std::generic_category().message(errno)));
        }
        return mapping;
    }

    /// Calls f(chunk's data, chunk, row within it, rows from there, rows done before) over a range.
    template <typename F>
    void for_each_piece(std::int64_t first, std::size_t count, F&& f) {
        const auto total = static_cast<std::int64_t>(count);
        for (std::int64_t done = 0; done < total;) {
            const std::int64_t index = layout.chunk_of(first + done);
            const record_layout::Chunk chunk = layout.chunk(index);
            const std::int64_t row = first + done - chunk.first_row;
            const std::int64_t rows = std::min(chunk.rows - row, total - done);
            const auto mapping = chunk_at(index);
            {
                const MappedAccess access(*mapping);
                f(mapping->data(), chunk, row, rows, done);
            }
            check_whole(*mapping, index);
            done += rows;
        }
    }

    void read_rows(std::int64_t first, std::span<StepRecord> out) {
        for_each_piece(first, out.size(),
                       [&](const std::byte* data, const record_layout::Chunk& chunk,
                           std::int64_t row, std::int64_t rows, std::int64_t done) {
                           std::size_t field = 0;
                           for_each_field([&](const char*, auto member) {
                               const std::int64_t start = starts[field++];
                               read_field(data + start * chunk.rows, start == absent, member, row,
                                          out.subspan(static_cast<std::size_t>(done),
                                                      static_cast<std::size_t>(rows)));
                           });
                       });
    }

    template <typename T>
    static void read_field(const std::byte* column, bool missing, T StepRecord::*member,
                           std::int64_t row, std::span<StepRecord> out) {
        for (StepRecord& record : out) {
            if (missing) {
                record.*member = missing_value<T>();
            } else {
                std::memcpy(&(record.*member), column + row * static_cast<std::int64_t>(sizeof(T)),
                            sizeof(T));
            }
            ++row;
        }
    }

    template <typename T>
    void read_column(T StepRecord::*member, std::int64_t first, std::span<double> out) {
        const std::int64_t start = starts.at(field_index(member));
        if (start == absent) {
            std::fill(out.begin(), out.end(), static_cast<double>(missing_value<T>()));
            return;
        }
        for_each_piece(first, out.size(),
                       [&](const std::byte* data, const record_layout::Chunk& chunk,
                           std::int64_t row, std::int64_t rows, std::int64_t done) {
                           const auto* values =
                               reinterpret_cast<const T*>(data + start * chunk.rows);
                           std::transform(values + row, values + row + rows, out.begin() + done,
                                          [](T value) { return static_cast<double>(value); });
                       });
    }
};

StepRecordReader StepRecordReader::open(const std::filesystem::path& run_folder) {
    const auto path = run_folder / record_layout::file_name;
    File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
        throw Error(ErrorCode::data,
                    msg("{}: cannot open the step record: {}", path.string(),
                        std::generic_category().message(errno)),
                    msg("Give the folder of a run."));
    }
    const auto page = static_cast<std::int64_t>(record_layout::page_bytes);
    const std::int64_t size = file.size();
    if (size < page) {
        throw Error(ErrorCode::data,
                    msg("{}: not a step record: the file ends after {} bytes", path.string(), size),
                    msg("Give the folder of a run."));
    }
    Mapping mapping(file, 0, page, Mapping::Access::read);
    if (mapping.data() == nullptr) {
        throw Error(ErrorCode::data, msg("{}: cannot map the step record: {}", path.string(),
                                         std::generic_category().message(errno)));
    }
    record_layout::Header header;
    {
        const MappedAccess access(mapping);
        std::memcpy(&header, mapping.data(), sizeof header);
    }
    record_layout::check_header(header, path);
    const record_layout::Layout layout(header);
    constexpr std::int64_t most_rows = std::int64_t{1} << 40;
    if (header.published > most_rows || size < layout.file_bytes(header.published)) {
        throw_short(path, header.published);
    }
    const FieldStarts starts = find_fields(header, layout, path);
    auto impl = std::make_shared<Impl>(path, std::move(file), std::move(mapping), layout, starts);
    impl->known = header.published;
    return StepRecordReader(std::move(impl));
}

StepRecordReader::StepRecordReader() = default;
StepRecordReader::StepRecordReader(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
StepRecordReader::~StepRecordReader() = default;
StepRecordReader::StepRecordReader(const StepRecordReader&) = default;
StepRecordReader::StepRecordReader(StepRecordReader&&) noexcept = default;
StepRecordReader& StepRecordReader::operator=(const StepRecordReader&) = default;
StepRecordReader& StepRecordReader::operator=(StepRecordReader&&) noexcept = default;

std::int64_t StepRecordReader::size() const {
    return impl_ ? std::min(impl_->published(), limit_) : 0;
}

StepRecordReader StepRecordReader::up_to(std::int64_t rows) const {
    StepRecordReader shorter = *this;
    shorter.limit_ = std::min(limit_, rows);
    return shorter;
}

bool StepRecordReader::holds_range(std::int64_t first, std::size_t count) const {
    const std::int64_t held = size();
    if (first >= 0 && first <= held && count <= static_cast<std::uint64_t>(held - first)) {
        return count > 0;
    }
    throw Error(ErrorCode::value,
                msg("{} steps from {} asked for, the step record holds {}", count, first, held));
}

StepRecord StepRecordReader::row(std::int64_t index) const {
    StepRecord record;
    rows(index, {&record, 1});
    return record;
}

void StepRecordReader::rows(std::int64_t first, std::span<StepRecord> out) const {
    if (holds_range(first, out.size())) impl_->read_rows(first, out);
}

void StepRecordReader::column(double StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}
void StepRecordReader::column(float StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}
void StepRecordReader::column(std::int64_t StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}
void StepRecordReader::column(std::int32_t StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}
void StepRecordReader::column(std::uint8_t StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}

}  // namespace engine
