#include "data/csv_format.h"
#include "data/csv_reader.h"
#include "engine/error.h"
#include "engine/trained_model.h"

namespace engine {
namespace {

constexpr std::size_t sample_bytes = std::size_t{1} << 16;

}  // namespace

std::vector<InputRow> read_input_rows(const std::filesystem::path& file) {
    const std::string sample = csv_sample(file, sample_bytes);
    char delimiter = find_csv_delimiter(sample, is_whole_csv_sample(sample, sample_bytes));
    if (delimiter == '\0') delimiter = ',';  // one column
    std::vector<std::string> columns;
    std::vector<InputRow> rows;
    read_csv_rows(file, delimiter, {}, [&](const CsvRow& row) {
        if (columns.empty()) {
            columns.assign(row.fields.begin(), row.fields.end());
            return true;
        }
        if (row.fields.size() != columns.size()) {
            throw Error(ErrorCode::data,
                        msg("{}: line {} has {} fields, the first line {}", file.string(), row.line,
                            row.fields.size(), columns.size()));
        }
        InputRow& out = rows.emplace_back();
        out.line = row.line;
        for (std::size_t i = 0; i < columns.size(); ++i)
            out.cells[columns[i]] = std::string(row.fields[i]);
        return true;
    });
    return rows;
}

}  // namespace engine
