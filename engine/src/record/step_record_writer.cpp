#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "record/record_source.h"
#include "record/step_record.h"

namespace engine {
namespace {

/// Columns that a record may lack: those that earlier versions did not write, and the two of an
/// exchange between ranks.
bool may_be_absent(std::string_view column) {
    return column == "clock_s" || column == "scale_floor" || column.starts_with("exchange_");
}

std::span<const record_layout::Column> columns_of(const record_layout::Header& header) {
    return std::span(header.columns).first(header.column_count);
}

bool has_column(const record_layout::Header& header, const record_layout::Column& column) {
    return std::ranges::any_of(columns_of(header), [&](const record_layout::Column& each) {
        return each.type == column.type && each.name == column.name;
    });
}

/// Whether a file has the columns that are expected, or those of an earlier version.
bool has_columns(const record_layout::Header& found, const record_layout::Header& expected) {
    return std::ranges::all_of(columns_of(found),
                               [&](const auto& column) { return has_column(expected, column); }) &&
           std::ranges::all_of(columns_of(expected), [&](const auto& column) {
               return may_be_absent(column.name.data()) || has_column(found, column);
           });
}

}  // namespace

StepRecordWriter StepRecordWriter::create(const std::filesystem::path& run_folder,
                                          std::size_t metrics, bool exchange) {
    const record_layout::Header header = record_layout::make_header(metrics, exchange);
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
    if (!has_columns(found, record_layout::make_header(metrics, /*exchange=*/true))) {
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
    columns_.write_row([&](const std::vector<std::byte*>& columns, std::int64_t row) {
        std::size_t field = 0;
        for_each_field([&](const char*, auto member) {
            const std::size_t column = column_of_field_[field++];
            if (column == record_layout::field_count()) return;
            const auto& value = record.*member;
            std::memcpy(columns[column] + row * static_cast<std::int64_t>(sizeof value), &value,
                        sizeof value);
        });
    });
    columns_.publish();
}

StepRecordReader StepRecordWriter::reader() const {
    return StepRecordReader::open(columns_.path().parent_path());
}

}  // namespace engine
