#pragma once

#include <string>
#include <vector>

#include "data/csv/csv_table.h"
#include "support/data_fixtures.h"

namespace engine::test {

/// The table of files with these texts.
inline CsvTable read_files(const std::vector<std::string>& texts, const CsvOptions& options = {}) {
    const test_support::TempFolder folder;
    CsvSource source{.options = options, .max_bytes = std::int64_t{64} << 20};
    for (const auto& text : texts)
        source.files.push_back(folder.write(std::to_string(source.files.size()) + ".csv", text));
    return read_csv_table(source);
}

inline CsvTable read_one_file(const std::string& text, const CsvOptions& options = {}) {
    return read_files({text}, options);
}

inline std::string warning_text(const CsvTable& table) {
    std::string out;
    for (const auto& warning : table.warnings) out += warning.str() + '\n';
    return out;
}

}  // namespace engine::test
