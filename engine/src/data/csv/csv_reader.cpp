#include "data/csv/csv_reader.h"

#include <csv.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/text_utf8.h"
#include "data/csv/csv_text.h"
#include "engine/base/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Keeps a field whose quotation mark is never closed from taking all memory.
void* bounded_realloc(void* block, std::size_t size) {
    return size > max_csv_row + (1 << 16) ? nullptr : std::realloc(block, size);
}

/// Where a line ends, and whether its text needs a closer look.
struct PieceFacts {
    std::size_t size = 0;  // with the character that ends the line, if it is there
    bool ascii = true;
    bool has_nul = false;
    bool blank = true;
};

/// `text` up to the end of the line, but no more than 64 KiB, so that limits are checked often.
PieceFacts look_at_piece(std::string_view text) {
    PieceFacts facts;
    const std::size_t end = std::min<std::size_t>(text.size(), 1 << 16);
    while (facts.size < end) {
        const char c = text[facts.size++];
        if (c == '\n' || c == '\r') break;
        facts.ascii &= (static_cast<unsigned char>(c) & 0x80) == 0;
        facts.has_nul |= c == '\0';
        facts.blank &= c == ' ' || c == '\t';
    }
    return facts;
}

/// libcsv in strict mode, with line numbers. It gets the text in pieces that end where a line does,
/// so a call finishes at most one row.
class RowReader {
public:
    RowReader(std::string file, char delimiter, const std::function<bool(const CsvRow&)>& visit,
              std::int64_t skipped_lines)
        : file_(std::move(file)),
          delimiter_(delimiter),
          skipped_lines_(skipped_lines),
          visit_(visit) {
        csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
        csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
        csv_set_realloc_func(&parser_, bounded_realloc);
    }
    ~RowReader() { csv_free(&parser_); }
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;

    /// False once the visitor returned false.
    bool feed(std::string_view text) {
        while (!text.empty()) {
            const PieceFacts facts = look_at_piece(text);
            if (!feed_piece(text.substr(0, facts.size), facts)) return false;
            text.remove_prefix(facts.size);
        }
        return true;
    }

    void finish() {
        if (!utf8_.complete()) refuse_encoding();
        if (csv_fini(&parser_, on_field, on_row, this) != 0) {
            throw Error(ErrorCode::data,
                        msg("{}, line {}: the quotation mark opened here is never closed", file_,
                            field_line_),
                        msg("Close it. Inside a quoted field, double each quotation mark."));
        }
        hand_over();
    }

private:
    static void on_field(void* text, std::size_t size, void* self) {
        static_cast<RowReader*>(self)->add_field({static_cast<const char*>(text), size});
    }
    static void on_row(int, void* self) { static_cast<RowReader*>(self)->row_complete_ = true; }

    /// Called by libcsv, through which no exception may pass: limits are checked after the call.
    void add_field(std::string_view field) {
        field_line_ = line_;
        if (ends_.size() > max_csv_columns || text_.size() > max_csv_row) return;
        text_.append(field);
        ends_.push_back(text_.size());
    }

    bool feed_piece(std::string_view piece, const PieceFacts& facts) {
        count_line(piece);
        if (line_ <= skipped_lines_) return true;
        if (facts.has_nul) {
            throw Error(
                ErrorCode::data,
                msg("{}, line {}: contains a NUL byte, so it is not a text file", file_, line_),
                msg("Save the table as CSV with UTF-8 encoding."));
        }
        if ((!facts.ascii || !utf8_.complete()) && !utf8_.accept(piece)) refuse_encoding();
        if (between_rows_) row_line_ = field_line_ = line_;
        // With a tab as the delimiter, a line of tabs is a row of empty fields.
        between_rows_ = between_rows_ && facts.blank &&
                        (delimiter_ != '\t' || piece.find('\t') == std::string_view::npos);
        // libcsv adds a block at a time: doubling keeps long fields from being copied over and
        // over.
        csv_set_blk_size(&parser_, std::max<std::size_t>(csv_get_buffer_size(&parser_), 4096));
        if (delimiter_ == ' ') piece = with_single_blanks(piece);
        if (csv_parse(&parser_, piece.data(), piece.size(), on_field, on_row, this) < piece.size())
            refuse_parse_error();
        return hand_over();
    }

    /// Outside quotation marks one space for the blanks between two fields, none at the ends of a
    /// line. Valid until the next call.
    std::string_view with_single_blanks(std::string_view piece) {
        single_blanks_.clear();
        for (const char c : piece) {
            if (!quoted_ && (c == ' ' || c == '\t')) {
                blank_before_ = true;
                continue;
            }
            const bool ends_line = !quoted_ && (c == '\n' || c == '\r');
            if (blank_before_ && !begins_line_ && !ends_line) single_blanks_ += ' ';
            blank_before_ = false;
            begins_line_ = ends_line;
            if (c == '"') quoted_ = !quoted_;
            single_blanks_ += c;
        }
        return single_blanks_;
    }

    /// A carriage return, a line feed, or both in this order end a line.
    void count_line(std::string_view piece) {
        const bool second_half = after_return_ && piece.front() == '\n';
        if (after_line_ && !second_half) ++line_;
        after_return_ = piece.back() == '\r';
        after_line_ = after_return_ || piece.back() == '\n';
    }

    bool hand_over() {
        if (ends_.size() > max_csv_columns) {
            throw Error(
                ErrorCode::data,
                msg("{}, line {}: more than {} columns", file_, row_line_, max_csv_columns),
                msg("Set dataset.delimiter if the wrong one was found; otherwise split the "
                    "table."));
        }
        if (text_.size() > max_csv_row) refuse_long_row();
        if (!row_complete_) return true;
        fields_.clear();
        for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++])
            fields_.push_back(std::string_view(text_).substr(begin, ends_[i] - begin));
        const bool more = visit_({row_line_, fields_});
        text_.clear();
        ends_.clear();
        row_complete_ = false;
        between_rows_ = true;
        return more;
    }

    [[noreturn]] void refuse_encoding() const {
        throw Error(ErrorCode::data, msg("{}, line {}: not valid UTF-8", file_, line_),
                    msg("Save the table as CSV with UTF-8 encoding."));
    }

    [[noreturn]] void refuse_long_row() const {
        throw Error(ErrorCode::data,
                    msg("{}, line {}: the row that begins here is longer than {} MiB", file_,
                        row_line_, max_csv_row >> 20),
                    msg("A quotation mark in it is probably not closed."));
    }

    [[noreturn]] void refuse_parse_error() {
        if (csv_error(&parser_) == CSV_EPARSE) {
            throw Error(ErrorCode::data,
                        msg("{}, line {}: a quotation mark is out of place", file_, line_),
                        msg("Put quotation marks around the whole field, and double those inside "
                            "it."));
        }
        if (csv_get_buffer_size(&parser_) < max_csv_row) throw std::bad_alloc();
        refuse_long_row();
    }

    std::string file_;
    char delimiter_;
    std::int64_t skipped_lines_;
    const std::function<bool(const CsvRow&)>& visit_;
    csv_parser parser_{};
    Utf8Checker utf8_;

    std::string text_;  // of the fields of the current row, one behind the other
    std::vector<std::size_t> ends_;
    std::vector<std::string_view> fields_;
    bool row_complete_ = false;
    bool between_rows_ = true;

    std::int64_t line_ = 1;
    std::int64_t row_line_ = 1;    // on which the current row begins
    std::int64_t field_line_ = 1;  // on which the current field begins
    bool after_line_ = false;
    bool after_return_ = false;

    std::string single_blanks_;  // of with_single_blanks()
    bool quoted_ = false;
    bool blank_before_ = false;
    bool begins_line_ = true;
};

}  // namespace

void read_csv_rows(const fs::path& file, char delimiter, const ReadOptions& options,
                   const std::function<bool(const CsvRow&)>& visit, std::int64_t skipped_lines) {
    const auto bytes = open_packed(file, options);
    RowReader rows(file.string(), delimiter, visit, skipped_lines);
    std::vector<std::uint8_t> block(1 << 18);
    for (bool first = true;; first = false) {
        const std::size_t size = bytes->read(block);
        std::string_view text(reinterpret_cast<const char*>(block.data()), size);
        if (first && begins_as_utf16(text)) {
            throw Error(
                ErrorCode::data,
                msg("{}, line {}: begins with the byte order mark of UTF-16", file.string(), 1),
                msg("Save the table as CSV with UTF-8 encoding."));
        }
        if (first && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
        if (!rows.feed(text)) return;
        if (size < block.size()) return rows.finish();
    }
}

}  // namespace engine
