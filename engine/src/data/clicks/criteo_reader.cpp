#include "data/clicks/criteo_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/text_utf8.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

constexpr std::size_t columns = 1 + CriteoRow::numbers + CriteoRow::ids;
constexpr std::size_t max_line_bytes = 4096;
constexpr std::size_t block_bytes = std::size_t{1} << 20;

template <typename T>
bool parse(std::string_view text, T& value, int base) {
    const auto number = to_number<T>(text, base);
    if (number) value = *number;
    return number.has_value();
}

class Lines {
public:
    Lines(const std::filesystem::path& file, std::int64_t table_rows)
        : file_(file.string()), table_rows_(table_rows) {}

    /// Nothing for a blank line, which may only stand at the end of the file.
    std::optional<CriteoRow> parsed(std::string_view line) {
        ++number_;
        if (number_ == 1 && line.starts_with(byte_order_mark))
            line.remove_prefix(byte_order_mark.size());
        if (line.find_first_not_of(" \r") == std::string_view::npos) {
            if (first_blank_ == 0) first_blank_ = number_;
            return std::nullopt;
        }
        if (first_blank_ != 0) refuse_blank();
        if (line.back() == '\r') line.remove_suffix(1);
        split(line);
        CriteoRow row{};
        if (fields_[0] != "0" && fields_[0] != "1")
            throw Error(ErrorCode::data, msg("{}: line {}, field {}: {} is not 0 or 1", file_,
                                             number_, 0 + 1, shown(0)));
        row.label = fields_[0] == "1" ? 1 : 0;
        for (std::size_t i = 0; i < CriteoRow::numbers; ++i) row.dense[i] = number(1 + i);
        for (std::size_t i = 0; i < CriteoRow::ids; ++i) {
            const std::size_t at = 1 + CriteoRow::numbers + i;
            row.id[i] = criteo_id(fields_[at], table_rows_);
            if (row.id[i] < 0)
                throw Error(ErrorCode::data,
                            msg("{}: line {}, field {}: {} is not up to 8 hexadecimal digits",
                                file_, number_, at + 1, shown(at)));
        }
        return row;
    }
    [[noreturn]] void refuse_long() const {
        throw Error(ErrorCode::data,
                    msg("{}: line {} has more than {} bytes", file_, number_ + 1, max_line_bytes));
    }

private:
    [[noreturn]] void refuse_blank() const {
        throw Error(ErrorCode::data, msg("{}: line {} is blank", file_, first_blank_),
                    msg("Remove it: only the end of the file may have blank lines."));
    }
    void split(std::string_view line) {
        fields_.clear();
        while (fields_.size() <= columns) {
            const std::size_t tab = line.find('\t');
            fields_.push_back(line.substr(0, tab));
            if (tab == std::string_view::npos) break;
            line.remove_prefix(tab + 1);
        }
        if (fields_.size() == columns) return;
        throw Error(ErrorCode::data, fields_.size() > columns
                                         ? msg("{}: line {} has more than {} fields between tabs",
                                               file_, number_, columns)
                                         : msg("{}: line {} has {} fields between tabs, not {}",
                                               file_, number_, fields_.size(), columns));
    }
    float number(std::size_t field) const {
        if (fields_[field].empty()) return 0;
        std::int64_t value = 0;
        if (!parse(fields_[field], value, 10))
            throw Error(ErrorCode::data, msg("{}: line {}, field {}: {} is not a whole number",
                                             file_, number_, field + 1, shown(field)));
        return static_cast<float>(
            std::log1p(static_cast<double>(std::max<std::int64_t>(value, 0))));
    }
    /// A field as an error shows it.
    std::string shown(std::size_t field) const {
        std::string text(fields_[field].substr(0, 40));
        std::ranges::replace_if(
            text, [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    std::string file_;
    std::int64_t table_rows_;
    std::int64_t number_ = 0;
    std::int64_t first_blank_ = 0;  // its line; 0: none
    std::vector<std::string_view> fields_;
};

}  // namespace

std::int32_t criteo_id(std::string_view category, std::int64_t rows) {
    if (category.empty()) return 0;
    std::uint32_t value = 0;
    if (category.size() > 8 || !parse(category, value, 16)) return -1;
    return static_cast<std::int32_t>(value % static_cast<std::uint64_t>(rows));
}

void read_criteo(const std::filesystem::path& file, std::int64_t table_rows,
                 const ReadOptions& options, const std::function<bool(const CriteoRow&)>& take) {
    const auto reader = open_packed(file, options);
    Lines lines(file, table_rows);
    std::vector<std::uint8_t> buffer(block_bytes + max_line_bytes);
    std::size_t held = 0;
    for (bool more = true; more;) {
        const std::size_t got = reader->read({buffer.data() + held, block_bytes});
        more = got == block_bytes;
        std::string_view text(reinterpret_cast<const char*>(buffer.data()), held + got);
        for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;) {
            if (end > max_line_bytes) lines.refuse_long();
            const auto row = lines.parsed(text.substr(0, end));
            if (row && !take(*row)) return;
            text.remove_prefix(end + 1);
        }
        if (text.size() > max_line_bytes) lines.refuse_long();
        held = text.size();
        if (!more && held > 0) {
            if (const auto row = lines.parsed(text)) take(*row);
        }
        std::copy(text.begin(), text.end(), buffer.begin());
    }
}

}  // namespace engine
