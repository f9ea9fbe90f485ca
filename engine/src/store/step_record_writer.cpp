#include <unistd.h>

#include <cstring>

#include "engine/error.h"
#include "store/record_source.h"
#include "store/step_record.h"

namespace engine {
namespace {

/// Columns at the end that records may lack: scale_floor in those of earlier versions, and the two
/// of an exchange.
constexpr std::uint32_t added_columns = 3;

/// Whether a file has the columns that are expected, or those of an earlier version.
bool has_columns(const record_layout::Header& found, const record_layout::Header& expected) {
    if (found.column_count > expected.column_count ||
        found.column_count + added_columns < expected.column_count)
        return false;
    record_layout::Header same = expected;
    for (std::uint32_t i = found.column_count; i < same.column_count; ++i) same.columns[i] = {};
    same.column_count = found.column_count;
    return record_layout::checksum(same) == found.checksum;
}

}  // namespace

StepRecordWriter StepRecordWriter::create(const std::filesystem::path& run_folder,
                                          std::size_t metrics, bool exchange) {
    return {ColumnWriter::create(run_folder / record_layout::file_name,
                                 record_layout::make_header(metrics, exchange)),
            metrics};
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
    return {std::move(columns), metrics};
}

void StepRecordWriter::append(const StepRecord& record) {
    columns_.write_row([&](const std::vector<std::byte*>& columns, std::int64_t row) {
        std::size_t field = 0;
        for_each_field([&](const char* name, auto member) {
            if (record_layout::metric_number(name) > metrics_ || field == columns.size()) return;
            const auto& value = record.*member;
            std::memcpy(columns[field++] + row * static_cast<std::int64_t>(sizeof value), &value,
                        sizeof value);
        });
    });
    columns_.publish();
}

StepRecordReader StepRecordWriter::reader() const {
    return StepRecordReader::open(columns_.path().parent_path());
}

}  // namespace engine
