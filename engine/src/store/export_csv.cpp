#include <array>
#include <charconv>
#include <cmath>

#include "engine/run_store.h"
#include "file/atomic_file.h"
#include "store/event_json.h"

namespace engine {
namespace {

constexpr std::int64_t rows_at_once = 4096;

std::string header_line() {
    std::string line;
    for_each_field(
        [&line](const char* name, auto) { line.append(line.empty() ? "" : ",").append(name); });
    return line + "\n";
}

template <typename T>
void append_cell(std::string& out, std::string_view field, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value) && !nan_is_a_value(field)) return;  // an empty cell: not measured
    }
    std::array<char, 48> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_row(std::string& out, const StepRecord& row) {
    bool first = true;
    for_each_field([&](const char* name, auto member) {
        if (!first) out += ',';
        first = false;
        append_cell(out, name, row.*member);
    });
    out += '\n';
}

/// A cell of text, quoted where CSV asks for it (RFC 4180).
std::string text_cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

/// Writes all rows of a record, each behind `prefix`.
void write_rows(AtomicFile& out, const StepRecordReader& reader, const std::string& prefix) {
    const std::int64_t size = reader.size();
    std::vector<StepRecord> rows;
    for (std::int64_t first = 0; first < size; first += rows_at_once) {
        rows.resize(static_cast<std::size_t>(std::min(rows_at_once, size - first)));
        reader.rows(first, rows);
        std::string text;
        for (const auto& row : rows) {
            text += prefix;
            append_row(text, row);
        }
        out.write(text);
    }
}

}  // namespace

void export_csv(const std::filesystem::path& run_folder, const std::filesystem::path& file) {
    const auto reader = StepRecordReader::open(run_folder);
    AtomicFile out(file);
    out.write(header_line());
    write_rows(out, reader, {});
    out.commit();
}

void export_csv(const std::vector<CsvRun>& runs, const std::filesystem::path& file) {
    std::vector<StepRecordReader> readers;
    for (const auto& run : runs) readers.push_back(StepRecordReader::open(run.folder));
    AtomicFile out(file);
    out.write("run," + header_line());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        write_rows(out, readers[i], text_cell(runs[i].name) + ",");
    }
    out.commit();
}

}  // namespace engine
