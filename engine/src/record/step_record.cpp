#include "record/step_record.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "record/record_source.h"

namespace engine {
namespace {

std::span<const record_layout::Column> columns_of(const record_layout::Header& header) {
    return std::span(header.columns).first(header.column_count);
}

bool has_column(const record_layout::Header& header, const record_layout::Column& column) {
    return std::ranges::any_of(columns_of(header), [&](const record_layout::Column& each) {
        return each.type == column.type && each.name == column.name;
    });
}

bool has_columns(const record_layout::Header& header, const record_layout::Header& part) {
    return std::ranges::all_of(columns_of(part),
                               [&](const auto& column) { return has_column(header, column); });
}

/// Whether a file has no column but those of this version, and all that every version writes.
bool can_go_on(const record_layout::Header& found, std::size_t metrics) {
    using record_layout::make_header;
    return has_columns(make_header(metrics, {.exchange = true,
                                             .card = true,
                                             .cpu_meter = true,
                                             .recipe = true}),
                       found) &&
           has_columns(found, make_header(metrics, {.added = false}));
}

constexpr std::int64_t absent = -1;

/// The start of each field's column, or absent in a file of an earlier
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

/// The value of a field that the file does not have.
template <typename T>
constexpr T missing_value() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
    return T{};
}

Error no_step_record(const std::filesystem::path& path, const std::string& reason) {
    return {ErrorCode::data, msg("{}: cannot open the step record: {}", path.string(), reason),
            msg("Give the folder of a run.")};
}

void check_step_record(const record_layout::Header& header, const std::filesystem::path& path,
                       std::int64_t bytes) {
    if (bytes < static_cast<std::int64_t>(record_layout::page_bytes)) {
        throw Error(
            ErrorCode::data,
            msg("{}: not a step record: the file ends after {} bytes", path.string(), bytes),
            msg("Give the folder of a run."));
    }
    record_layout::check_header(header, path);
}

}  // namespace

StepRecordWriter StepRecordWriter::create(const std::filesystem::path& run_folder,
                                          std::size_t metrics,
                                          const record_layout::OptionalColumns& optional) {
    const auto header = record_layout::make_header(metrics, optional);
    return {ColumnWriter::create(run_folder / record_layout::file_name, header), header};
}

StepRecordWriter::StepRecordWriter(ColumnWriter columns, const record_layout::Header& header)
    : columns_(std::move(columns)) {
    for_each_field([&](std::string_view name, auto) {
        const auto all = columns_of(header);
        const auto found = std::ranges::find_if(
            all, [&](const record_layout::Column& each) { return each.name.data() == name; });
        column_of_field_.push_back(found == all.end()
                                       ? record_layout::field_count()
                                       : static_cast<std::size_t>(found - all.begin()));
    });
}

StepRecordWriter StepRecordWriter::open(const std::filesystem::path& run_folder, std::int64_t rows,
                                        std::size_t metrics) {
    const auto path = run_folder / record_layout::file_name;
    // A process that was killed while creating the run left no record.
    if (rows == 0 && ::access(path.c_str(), F_OK) != 0) return create(run_folder, metrics);
    const auto refuse = [&](Message message) {
        throw Error(ErrorCode::data, std::move(message),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    };
    File file = open_columns(path);
    record_layout::Header found;
    if (!read_whole_at(file, std::as_writable_bytes(std::span(&found, 1)), 0))
        refuse(msg("{}: the step record is cut short", path.string()));
    record_layout::check_header(found, path);
    if (!can_go_on(found, metrics)) {
        refuse(
            msg("{}: the step record was written by another version of this program and cannot be "
                "continued",
                path.string()));
    }
    ColumnWriter columns(std::move(file), path, found);
    if (rows > found.published || !columns.can_hold(rows))
        refuse(msg("{}: the step record ends before step {}", path.string(), rows));
    columns.go_on_after(rows);
    return {std::move(columns), found};
}

void StepRecordWriter::append(const StepRecord& record) {
    columns_.write_rows(std::span(&record, 1), [&](const auto& f) {
        std::size_t field = 0;
        for_each_field([&](const char*, auto member) {
            const std::size_t column = column_of_field_[field++];
            if (column == record_layout::field_count()) return;
            f(column, [member](const StepRecord& row) { return row.*member; });
        });
    });
    columns_.publish();
}

StepRecordReader StepRecordWriter::reader() const {
    return StepRecordReader::open(columns_.path().parent_path());
}

struct StepRecordReader::Impl {
    ColumnReader columns;
    FieldStarts starts;

    void read_rows(std::int64_t first, std::span<StepRecord> out) {
        columns.for_each_piece(
            first, std::ssize(out),
            [&](const RecordSource::ColumnAt& column_at, std::int64_t rows, std::int64_t done) {
                std::size_t field = 0;
                for_each_field([&](const char*, auto member) {
                    read_field(column_at, starts[field++], member,
                               out.subspan(static_cast<std::size_t>(done),
                                           static_cast<std::size_t>(rows)));
                });
            });
    }

    template <typename T>
    static void read_field(const RecordSource::ColumnAt& column_at, std::int64_t start,
                           T StepRecord::*member, std::span<StepRecord> out) {
        const std::byte* value = start == absent ? nullptr : column_at(start, sizeof(T));
        for (StepRecord& record : out) {
            if (value == nullptr) {
                record.*member = missing_value<T>();
            } else {
                std::memcpy(&(record.*member), value, sizeof(T));
                value += sizeof(T);
            }
        }
    }

    template <typename T>
    void read_column(T StepRecord::*member, std::int64_t first, std::span<double> out) {
        const std::int64_t start = starts.at(field_index(member));
        if (start == absent) {
            std::fill(out.begin(), out.end(), static_cast<double>(missing_value<T>()));
            return;
        }
        columns.for_each_piece(
            first, std::ssize(out),
            [&](const RecordSource::ColumnAt& column_at, std::int64_t rows, std::int64_t done) {
                const auto* values = reinterpret_cast<const T*>(column_at(start, sizeof(T)));
                std::transform(values, values + rows, out.begin() + done,
                               [](T value) { return static_cast<double>(value); });
            });
    }
};

StepRecordReader StepRecordReader::open(const std::filesystem::path& run_folder,
                                        RecordAccess access) {
    const auto path = run_folder / record_layout::file_name;
    ColumnReader columns(
        {path, no_step_record, check_step_record, OpenRecord::default_max_mapped, access});
    const FieldStarts starts = find_fields(columns.header(), columns.layout(), path);
    return StepRecordReader(std::make_shared<Impl>(Impl{std::move(columns), starts}));
}

StepRecordReader::StepRecordReader() = default;
StepRecordReader::StepRecordReader(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
StepRecordReader::~StepRecordReader() = default;
StepRecordReader::StepRecordReader(const StepRecordReader&) = default;
StepRecordReader::StepRecordReader(StepRecordReader&&) noexcept = default;
StepRecordReader& StepRecordReader::operator=(const StepRecordReader&) = default;
StepRecordReader& StepRecordReader::operator=(StepRecordReader&&) noexcept = default;

std::int64_t StepRecordReader::size() const {
    return impl_ ? std::min(impl_->columns.published(), limit_) : 0;
}

void StepRecordReader::check() const {
    if (impl_) impl_->columns.check();
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
                msg("{} steps from {} were requested; the step record has {}", count, first, held));
}

StepRecord StepRecordReader::row(std::int64_t index) const {
    StepRecord record;
    rows(index, {&record, 1});
    return record;
}

void StepRecordReader::rows(std::int64_t first, std::span<StepRecord> out) const {
    if (holds_range(first, out.size())) impl_->read_rows(first, out);
}

template <typename T>
void StepRecordReader::column(T StepRecord::*field, std::int64_t first,
                              std::span<double> out) const {
    if (holds_range(first, out.size())) impl_->read_column(field, first, out);
}
template void StepRecordReader::column(double StepRecord::*, std::int64_t,
                                       std::span<double>) const;
template void StepRecordReader::column(float StepRecord::*, std::int64_t, std::span<double>) const;
template void StepRecordReader::column(std::int64_t StepRecord::*, std::int64_t,
                                       std::span<double>) const;
template void StepRecordReader::column(std::int32_t StepRecord::*, std::int64_t,
                                       std::span<double>) const;
template void StepRecordReader::column(std::uint8_t StepRecord::*, std::int64_t,
                                       std::span<double>) const;

float StepRecord::*metric_column(std::span<const Metric> metrics, std::size_t index) {
    if (metrics[index].key == "accuracy") return &StepRecord::accuracy;
    const auto end = metrics.begin() + static_cast<std::ptrdiff_t>(index);
    const auto before = static_cast<std::size_t>(std::count_if(
        metrics.begin(), end, [](const Metric& metric) { return metric.key != "accuracy"; }));
    if (before >= max_metrics)
        throw Error(ErrorCode::state, "a task has more metrics than the record has columns");
    return metric_columns[before];
}

}  // namespace engine
