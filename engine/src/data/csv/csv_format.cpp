#include "data/csv/csv_format.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/text_utf8.h"
#include "data/byte_reader.h"
#include "data/csv/csv_text.h"
#include "data/data_files.h"
#include "engine/base/error.h"
#include "io/zip/zip.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

// The order decides between two delimiters that fit equally well: a comma is also a decimal
// separator.
constexpr std::string_view candidates = "\t;|,";
constexpr std::size_t max_sampled_rows = 100;
using Counts = std::array<std::size_t, candidates.size()>;

/// How often each candidate stands outside quotes, row by row. Blank lines are no rows.
std::vector<Counts> count_delimiters(std::string_view sample, bool whole, std::size_t max_rows) {
    std::vector<Counts> rows;
    Counts counts{};
    bool quoted = false;
    bool opens = true;  // a quotation mark that comes next
    bool blank = true;
    const auto end_row = [&] {
        if (!blank) rows.push_back(counts);
        counts = {};
        blank = true;
    };
    for (const char c : sample) {
        if (rows.size() == max_rows) return rows;
        // A doubled mark changes nothing, and one behind a letter or digit opens no field: 5" pipe.
        if (c == '"') quoted = !quoted && opens;
        opens = c == '"' || c == ' ' || c == '\n' || c == '\r' ||
                candidates.find(c) != std::string_view::npos;
        if (!quoted && (c == '\n' || c == '\r')) {
            end_row();
            continue;
        }
        blank &= c == ' ';
        const std::size_t candidate = candidates.find(c);
        if (!quoted && candidate != std::string_view::npos) ++counts[candidate];
    }
    // A row longer than the sample is better than none.
    if (whole || rows.empty()) end_row();
    return rows;
}

struct Evenness {
    char delimiter = '\0';
    std::size_t even_rows = 0;  // with the most frequent number of fields
    std::size_t rows = 0;
};

Evenness find_evenness(std::string_view sample, bool whole, std::size_t max_rows) {
    const auto rows = count_delimiters(sample, whole, max_rows);
    Evenness best{.rows = rows.size()};
    for (std::size_t candidate = 0; candidate < candidates.size(); ++candidate) {
        std::map<std::size_t, std::size_t> frequency;
        for (const auto& counts : rows) ++frequency[counts[candidate]];
        frequency.erase(0);
        for (const auto& [count, even_rows] : frequency) {
            if (even_rows <= best.even_rows) continue;
            best.delimiter = candidates[candidate];
            best.even_rows = even_rows;
        }
    }
    return best;
}

/// Removes the first line from `text` and returns it without its end.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    const bool both = text.substr(end, 2) == "\r\n";
    text.remove_prefix(std::min(end + (both ? 2 : 1), text.size()));
    return line;
}

/// A row of the sample. Quotation marks around a field are removed.
struct SampleRow {
    std::int64_t line = 0;  ///< of the sample, from 1
    std::vector<std::string_view> fields;

    std::size_t filled() const {
        return static_cast<std::size_t>(
            std::count_if(fields.begin(), fields.end(), [](auto field) { return !field.empty(); }));
    }
};

/// Splits rows as loosely as title lines need it: a quotation mark within a field is a character.
class SampleRows {
public:
    SampleRows(std::string_view sample, char delimiter) : text_(sample), delimiter_(delimiter) {}

    std::vector<SampleRow> take(bool whole) {
        while (at_ < text_.size() && rows_.size() <= max_sampled_rows) row();
        // The sample may have cut the last row off.
        if (!whole && at_ >= text_.size() && rows_.size() > 1) rows_.pop_back();
        return std::move(rows_);
    }

private:
    bool ends_line() const {
        return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
    }
    bool is_blank() const {
        return text_[at_] == ' ' || (text_[at_] == '\t' && delimiter_ != '\t');
    }
    void skip_blanks() {
        while (!ends_line() && is_blank()) ++at_;
    }

    void row() {
        SampleRow row{line_, {}};
        skip_blanks();
        while (true) {
            row.fields.push_back(field());
            if (delimiter_ == ' ') skip_blanks();
            if (ends_line()) break;
            if (delimiter_ != ' ') ++at_;
        }
        std::string_view rest = text_.substr(at_);
        take_line(rest);
        at_ = text_.size() - rest.size();
        ++line_;
        if (row.fields.size() > 1 || !row.fields[0].empty()) rows_.push_back(std::move(row));
    }

    std::string_view field() {
        if (delimiter_ != ' ') skip_blanks();
        if (!ends_line() && text_[at_] == '"') {
            const std::size_t begin = ++at_;
            while (at_ < text_.size() && text_[at_] != '"') {
                line_ += text_[at_] == '\n' ? 1 : 0;
                ++at_;
            }
            const std::string_view quoted = text_.substr(begin, at_ - begin);
            while (!ends_line() && text_[at_] != delimiter_) ++at_;
            return quoted;
        }
        const std::size_t begin = at_;
        while (!ends_line() && text_[at_] != delimiter_ && !(delimiter_ == ' ' && is_blank()))
            ++at_;
        return trimmed(text_.substr(begin, at_ - begin));
    }

    std::string_view text_;
    char delimiter_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
    std::vector<SampleRow> rows_;
};

std::vector<SampleRow> sample_rows(std::string_view sample, bool whole, char delimiter) {
    return SampleRows(sample, delimiter).take(whole);
}

/// Whether most of the first lines have several blanks side by side.
bool has_wide_blanks(std::string_view sample) {
    std::size_t lines = 0, wide = 0;
    while (!sample.empty() && lines < max_sampled_rows) {
        const std::string_view line = trimmed(take_line(sample));
        lines += line.empty() ? 0 : 1;
        wide += line.find("  ") == std::string_view::npos ? 0 : 1;
    }
    return wide * 2 > lines;
}

struct EvenRows {
    std::size_t fields = 0;  ///< of most rows
    std::size_t rows = 0;
};

EvenRows even_rows(const std::vector<SampleRow>& rows) {
    std::map<std::size_t, std::size_t> frequency;
    for (const auto& row : rows) ++frequency[row.fields.size()];
    EvenRows most;
    for (const auto& [fields, count] : frequency) {
        if (count > most.rows) most = {fields, count};
    }
    return most;
}

/// The delimiter of a line "sep=;", which Excel writes and reads; '\0', and nothing removed, if the
/// first line is none.
char take_separator_line(std::string_view& text) {
    std::string_view rest = text;
    std::string_view line = take_line(rest);
    if (line.size() > 2 && line.front() == '"' && line.back() == '"')
        line = line.substr(1, line.size() - 2);
    const bool says = line.size() == 5 && (line.starts_with("sep=") || line.starts_with("SEP="));
    if (!says) return '\0';
    text = rest;
    return line.back();
}

struct Comments {
    struct Line {
        std::int64_t line = 0;  ///< of the text, from 1
        std::string_view text;
    };
    std::vector<Line> lines;
    std::int64_t end = 0;  ///< lines that were removed, with blank ones
};

Comments take_comments(std::string_view& text) {
    Comments comments;
    while (!text.empty()) {
        std::string_view rest = text;
        const std::string_view line = trimmed(take_line(rest));
        const bool comment =
            line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
        if (!comment && !line.empty()) break;
        ++comments.end;
        if (comment) comments.lines.push_back({comments.end, line});
        text = rest;
    }
    return comments;
}

/// Whether what looks like a comment is a row of the table.
bool is_row(const Comments::Line& comment, char delimiter, std::size_t fields) {
    if (comment.text.size() < 2 || is_space(comment.text[1])) return false;
    return sample_rows(comment.text, true, delimiter).front().fields.size() == fields;
}

/// Words that can be the names of columns.
bool is_headline(const SampleRow& row) {
    return row.filled() > 1 && std::none_of(row.fields.begin(), row.fields.end(), is_plain_number);
}

/// "Report,,,", as a spreadsheet writes a title.
bool is_padded_title(const SampleRow& row) {
    return row.filled() <= 1 && std::none_of(row.fields.begin(), row.fields.end(), is_plain_number);
}

/// How many of the first rows are titles above a table of rows with this many fields.
std::size_t titles_above(const std::vector<SampleRow>& rows, std::size_t fields) {
    const auto fits = [fields](const SampleRow& row) { return row.fields.size() == fields; };
    const auto table = std::find_if(rows.begin(), rows.end(), fits);
    if (std::count_if(table, rows.end(), fits) < 2) return 0;
    auto first = static_cast<std::size_t>(table - rows.begin());
    if (first > 0) {
        const bool single = std::all_of(rows.begin(), table,
                                        [](const SampleRow& row) { return row.filled() <= 1; });
        // A header that lacks one name is no title, nor one above rows that end with a delimiter.
        const bool numbers_below = std::any_of(table + 1, rows.end(), [](const SampleRow& row) {
            return std::any_of(row.fields.begin(), row.fields.end(), is_plain_number);
        });
        const bool header =
            is_headline(*table) && (numbers_below || rows[0].filled() + 1 != fields);
        if (!single && !header) return 0;
    }
    while (fields > 2 && first + 1 < rows.size() && is_padded_title(rows[first]) &&
           (is_padded_title(rows[first + 1]) || is_headline(rows[first + 1])))
        ++first;
    return first;
}

/// Samples the beginning of a file; no rows if it is not UTF-8 text.
Evenness sample_evenness(const fs::path& file) {
    for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{1} << 20}) {
        const std::string sample = csv_sample(file, bytes);
        const bool whole = is_whole_csv_sample(sample, bytes);
        Utf8Checker utf8;
        const bool valid = utf8.accept(sample) && (!whole || utf8.complete());
        if (!valid || sample.find('\0') != std::string::npos) return {};
        const Evenness found = find_evenness(sample, whole, bytes);
        if (whole || found.rows >= 2) return found;
    }
    return {};
}

}  // namespace

bool is_whole_csv_sample(std::string_view sample, std::size_t bytes) {
    return sample.size() + byte_order_mark.size() < bytes;
}

std::string csv_sample(const fs::path& file, std::size_t bytes, const std::stop_token& stop) {
    std::vector<std::uint8_t> sample(bytes);
    ReadOptions options;
    options.stop = stop;
    sample.resize(open_packed(file, options)->read(sample));
    std::string text(sample.begin(), sample.end());
    return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

char find_csv_delimiter(std::string_view sample, bool whole) {
    const Evenness found = find_evenness(sample, whole, max_sampled_rows);
    const auto rows = sample_rows(sample, whole, ' ');
    const auto even = even_rows(rows);
    const bool blanks = even.fields > 1 && even.rows * 5 > rows.size() * 4;
    // Fields that several blanks align may have a tab among them.
    const bool aligned = blanks && found.delimiter == '\t' && has_wide_blanks(sample);
    if (found.even_rows * 2 > found.rows && !aligned) return found.delimiter;
    return blanks ? ' ' : '\0';
}

CsvStart find_csv_start(std::string_view sample, bool whole, char delimiter) {
    CsvStart start{.delimiter = delimiter};
    std::string_view rest = sample;
    if (const char separator = take_separator_line(rest); separator != '\0') {
        start.skipped_lines = 1;
        if (delimiter == '\0') start.delimiter = separator;
    }
    const Comments comments = take_comments(rest);
    if (start.delimiter == '\0') start.delimiter = find_csv_delimiter(rest, whole);
    if (start.delimiter == '\0') return start;
    const auto rows = sample_rows(rest, whole, start.delimiter);
    const std::size_t fields = even_rows(rows).fields;
    if (fields < 2) return start;
    // "#name,age" is a header, and "#ff0000,3" a row of the table.
    auto last = comments.lines.end();
    while (last != comments.lines.begin() && is_row(*(last - 1), start.delimiter, fields)) --last;
    const std::int64_t above = start.skipped_lines;
    if (last != comments.lines.begin()) start.skipped_lines = above + (last - 1)->line;
    const std::size_t titles = last == comments.lines.end() ? titles_above(rows, fields) : 0;
    if (titles > 0) start.skipped_lines = above + comments.end + rows[titles].line - 1;
    return start;
}

CsvStart find_csv_start(const fs::path& file, char delimiter, const std::stop_token& stop) {
    constexpr std::size_t sample_bytes = std::size_t{1} << 20;
    refuse_other_tables(file);
    const std::string sample = csv_sample(file, sample_bytes, stop);
    return find_csv_start(sample, is_whole_csv_sample(sample, sample_bytes), delimiter);
}

bool looks_like_csv(const fs::path& file) {
    try {
        if (is_other_table(file)) return true;
        const std::string name =
            recognition_name(is_zip(file) ? name_in_zip(file) : file.filename().string());
        const bool certain_name = name.ends_with(".csv") || name.ends_with(".tsv");
        if (!certain_name && !name.ends_with(".txt") && !name.ends_with(".data")) return false;
        const Evenness found = sample_evenness(file);
        return found.even_rows >= 2 && (certain_name || found.even_rows * 5 >= found.rows * 4);
    } catch (const Error&) {
        return false;
    }
}

}  // namespace engine
