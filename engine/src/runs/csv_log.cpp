#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "data/csv/csv_format.h"
#include "data/csv/csv_reader.h"
#include "data/csv/csv_text.h"
#include "engine/base/error.h"
#include "runs/foreign_log.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Names of columns that number the rows, in order of preference; the last one numbers epochs.
constexpr std::array<std::string_view, 7> step_names = {
    "step",      "_step", "global_step", "trainer/global_step", "train/global_step",
    "iteration", "epoch"};
/// W&B's own columns beside a chart's mean.
constexpr std::array<std::string_view, 2> spread_endings = {"__MIN", "__MAX"};

std::string lower_name(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

/// NaN and infinities are numbers here.
std::optional<double> logged_number(std::string_view field) {
    field = trimmed(field);
    double value = 0;
    const char* const end = field.data() + field.size();
    const auto [at, error] = std::from_chars(field.data(), end, value);
    return field.empty() || error != std::errc() || at != end ? std::nullopt : std::optional(value);
}

/// The figure that a column holds.
struct LogColumn {
    std::size_t run = 0;  ///< place in the runs
    std::string name;     ///< empty: not looked at
};

class CsvLog {
public:
    explicit CsvLog(const fs::path& file) : file_(file) {}

    std::vector<ForeignLog> read() {
        const CsvStart start = find_csv_start(file_, '\0');
        if (start.delimiter == '\0') refuse(msg("no table"));
        read_csv_rows(
            file_, start.delimiter, {},
            [this](const CsvRow& row) {
                columns_.empty() ? take_header(row) : take_row(row);
                return true;
            },
            start.skipped_lines);
        std::erase_if(logs_, [](const ForeignLog& log) { return log.steps.empty(); });
        if (logs_.empty()) refuse(msg("no figures"));
        return std::move(logs_);
    }

private:
    [[noreturn]] void refuse(const Message& why) const {
        throw Error(ErrorCode::data, msg("{}: not a log that can be imported: {}", file_.string(), why.str()),
                    msg("Give a CSV file with names in its first row, and below a row for each "
                        "step."));
    }

    void take_header(const CsvRow& row) {
        std::vector<std::string> names;
        for (const std::string_view field : row.fields) names.emplace_back(trimmed(field));
        for (const std::string_view wanted : step_names) {
            const auto found = std::ranges::find_if(
                names, [&](const std::string& name) { return lower_name(name) == wanted; });
            if (found == names.end()) continue;
            step_ = static_cast<std::size_t>(found - names.begin());
            break;
        }
        columns_.resize(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string name = lower_name(names[i]);
            if (name == "_timestamp") clock_ = i;
            const bool is_spread = std::ranges::any_of(
                spread_endings, [&](std::string_view end) { return names[i].ends_with(end); });
            // An epoch that counts the rows is also a figure of theirs.
            if (is_spread || name.empty() || name.starts_with('_') ||
                (i == step_ && name != "epoch"))
                continue;
            constexpr std::string_view between = " - ";
            const auto at = names[i].rfind(between);
            const bool of_run = at != std::string::npos;
            columns_[i] = {run_of(of_run ? names[i].substr(0, at) : file_.stem().string()),
                           of_run ? names[i].substr(at + between.size()) : names[i]};
        }
    }

    std::size_t run_of(const std::string& title) {
        const auto found = std::ranges::find(logs_, title, &ForeignLog::title);
        if (found != logs_.end()) return static_cast<std::size_t>(found - logs_.begin());
        ForeignLog& log = logs_.emplace_back();
        log.program = "CSV";
        log.title = title;
        return logs_.size() - 1;
    }

    void take_row(const CsvRow& row) {
        ++rows_;
        std::int64_t step = rows_;
        if (step_) {
            const auto told = logged_number(row.fields[*step_]);
            constexpr double most = 1e15;
            if (!told || !(std::abs(*told) < most)) return;
            step = std::llround(*told);
        }
        const double clock = clock_ ? logged_number(row.fields[*clock_]).value_or(0) : 0;
        for (std::size_t i = 0; i < columns_.size() && i < row.fields.size(); ++i) {
            if (columns_[i].name.empty()) continue;
            if (const auto value = logged_number(row.fields[i]))
                logs_[columns_[i].run].add(step, columns_[i].name, *value, clock);
        }
    }

    const fs::path& file_;
    std::vector<LogColumn> columns_;
    std::optional<std::size_t> step_, clock_;
    std::int64_t rows_ = 0;
    std::vector<ForeignLog> logs_;
};

}  // namespace

std::vector<ForeignLog> read_csv_logs(const fs::path& file) { return CsvLog(file).read(); }

}  // namespace engine
