#include "data/csv_format.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "core/characters.h"
#include "data/byte_reader.h"
#include "data/csv_text.h"
#include "data/data_files.h"
#include "data/text_utf8.h"
#include "engine/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

// Of two delimiters that fit equally well, the first: a comma is also a decimal separator.
constexpr std::string_view candidates = "\t;|,";
using Counts = std::array<std::size_t, candidates.size()>;

/// How often each candidate stands outside quotes, row by row. Blank lines are no rows.
std::vector<Counts> count_delimiters(std::string_view sample, bool whole, std::size_t most_rows) {
    std::vector<Counts> rows;
    Counts counts{};
    bool quoted = false;
    bool blank = true;
    const auto end_row = [&] {
        if (!blank) rows.push_back(counts);
        counts = {};
        blank = true;
    };
    for (const char c : sample) {
        if (rows.size() == most_rows) return rows;
        if (c == '"') quoted = !quoted;  // a doubled mark changes nothing
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

Evenness find_evenness(std::string_view sample, bool whole, std::size_t most_rows) {
    const auto rows = count_delimiters(sample, whole, most_rows);
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

/// Of the beginning of a file; no rows if it is not UTF-8 text.
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
    const Evenness found = find_evenness(sample, whole, 100);
    return found.even_rows * 2 > found.rows ? found.delimiter : '\0';
}

bool looks_like_csv(const fs::path& file) {
    const std::string name = recognition_name(file.filename().string());
    const bool certain_name = name.ends_with(".csv") || name.ends_with(".tsv");
    if (!certain_name && !name.ends_with(".txt") && !name.ends_with(".data")) return false;
    try {
        const Evenness found = sample_evenness(file);
        return found.even_rows >= 2 && (certain_name || found.even_rows * 5 >= found.rows * 4);
    } catch (const Error&) {
        return false;
    }
}

}  // namespace engine
