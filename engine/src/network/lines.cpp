#include "network/lines.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/text_utf8.h"

namespace engine::network {
namespace {

constexpr std::string_view version_line = "# halftone network ";
constexpr int notation_version = 1;

constexpr int tab_width = 4;

int indentation_width(std::string_view indentation) {
    int columns = 0;
    for (const char c : indentation) columns += c == '\t' ? tab_width : 1;
    return columns;
}

int column_of(std::string_view line, std::size_t offset) {
    return 1 + static_cast<int>(count_characters(line.substr(0, offset)));
}

/// Parts a text line by line.
class LineCutter {
public:
    explicit LineCutter(std::vector<NetworkFault>& faults) : faults_(faults) {
        levels_.push_back({0, &root_});
    }

    void add(std::string_view raw) {
        if (++number_ == 1) check_version(raw);
        const std::string_view line = without_comment(raw);
        const std::size_t indent = line.find_first_not_of(" \t");
        if (indent == line.npos) return;
        const bool continues = depth_ > 0 && indentation_width(line.substr(0, indent)) > last_->indent;
        if (depth_ > 0 && !continues) {
            not_closed(number_);
            depth_ = 0;
        }
        if (continues)
            continue_line(line, indent);
        else
            begin_line(line, indent);
        // A tab has its fault; the rest of its line is read on.
        std::ranges::replace(last_->text, '\t', ' ');
        count_brackets(line);
    }

    std::vector<LogicalLine> end() {
        if (depth_ > 0) not_closed(0);
        // Lines point into one another while they are added, so their bodies are moved at the end.
        return assembled(root_);
    }

private:
    /// A line while the text is read: pointers to it stay valid.
    struct Growing : LogicalLine {
        std::vector<std::unique_ptr<Growing>> below{};
    };
    struct Level {
        int indent;
        Growing* owner;
    };

    static std::vector<LogicalLine> assembled(Growing& line) {
        std::vector<LogicalLine> lines;
        lines.reserve(line.below.size());
        for (auto& below : line.below) {
            below->body = assembled(*below);
            lines.push_back(std::move(static_cast<LogicalLine&>(*below)));
        }
        return lines;
    }

    void fault(int column, int length, Message text, std::optional<std::string> fix = {}) {
        faults_.push_back({{number_, column, length}, std::move(text), std::move(fix)});
    }

    void check_version(std::string_view raw) {
        if (!raw.starts_with(version_line)) return;
        const std::string_view digits = raw.substr(version_line.size());
        int version = 0;
        const auto read = std::from_chars(digits.begin(), digits.end(), version);
        if (read.ec == std::errc{} && read.ptr == digits.end() && version > notation_version)
            fault(1, static_cast<int>(raw.size()),
                  msg("This is notation {}; this program reads notation {}. A newer version of "
                      "Halftone reads it.",
                      version, notation_version));
    }

    /// Without comment and spaces at the end. Tabs outside strings are faults.
    std::string_view without_comment(std::string_view raw) {
        bool quoted = false;
        std::size_t end = 0;
        while (end < raw.size() && (quoted || raw[end] != '#')) {
            if (raw[end] == '"') quoted = !quoted;
            if (raw[end] == '\t' && !quoted)
                fault(column_of(raw, end), 1, msg("A tab. Use spaces."), std::string(tab_width, ' '));
            ++end;
        }
        const std::size_t last = raw.substr(0, end).find_last_not_of(" \t");
        return last == raw.npos ? std::string_view() : raw.substr(0, last + 1);
    }

    void begin_line(std::string_view line, std::size_t spaces) {
        const int indent = indentation_width(line.substr(0, spaces));
        if (last_ == nullptr && indent > 0) {
            fault(1, indent, msg("The first line is indented. Write it without spaces before it."), "");
            levels_.front().indent = indent;
        }
        if (indent > levels_.back().indent) {
            if (static_cast<int>(levels_.size()) <= TextLimits::levels)
                levels_.push_back({indent, last_});
            else
                fault(1, indent, msg("More than {} levels.", TextLimits::levels));
        } else {
            while (levels_.size() > 1 && levels_.back().indent > indent) levels_.pop_back();
            if (levels_.back().indent < indent)
                fault(1, indent,
                      msg("{} spaces: no open level has that many. Write {}.", indent, levels_.back().indent),
                      std::string(static_cast<std::size_t>(levels_.back().indent), ' '));
        }
        auto added = std::make_unique<Growing>();
        added->number = number_;
        added->indent = levels_.back().indent;
        last_ = added.get();
        levels_.back().owner->below.push_back(std::move(added));
        last_->pieces.push_back({0, number_, column_of(line, spaces)});
        last_->text = line.substr(spaces);
        depth_ = 0;
    }

    void continue_line(std::string_view line, std::size_t spaces) {
        last_->text += ' ';
        last_->pieces.push_back({last_->text.size(), number_, column_of(line, spaces)});
        last_->text += line.substr(spaces);
    }

    void count_brackets(std::string_view line) {
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            if (c == '"') quoted = !quoted;
            if (quoted) continue;
            if (c == '(' || c == '[') {
                if (depth_ == 0) open_ = {{number_, column_of(line, i), 1}, c};
                if (++depth_ == TextLimits::brackets + 1 && !last_->bad) {
                    fault(column_of(line, i), 1,
                          msg("More than {} brackets inside one another.", TextLimits::brackets));
                    last_->bad = true;
                }
            } else if ((c == ')' || c == ']') && depth_ > 0) {
                --depth_;
            }
        }
    }

    /// `next`: the line that does not continue; 0: the text ends.
    void not_closed(int next) {
        const std::string bracket = std::string("\"") + open_.character + '"';
        if (!last_->bad)
            faults_.push_back({open_.place, next == 0 ? msg("{} is not closed.", bracket)
                                                      : msg("{} is not closed: line {} is not indented deeper.", bracket, next), {}});
        last_->bad = true;
    }

    struct OpenBracket {
        TextPlace place{};
        char character = '(';
    };

    std::vector<NetworkFault>& faults_;
    Growing root_;
    std::vector<Level> levels_;
    Growing* last_ = nullptr;
    int number_ = 0;
    int depth_ = 0;
    OpenBracket open_;
};

/// Whether the text may be read; else its fault is added.
bool is_readable(std::string_view text, std::vector<NetworkFault>& faults) {
    const auto fault = [&](int line, int column, Message message) {
        faults.push_back({{line, column, 1}, std::move(message), {}});
        return false;
    };
    if (text.size() > TextLimits::bytes)
        return fault(1, 1, msg("The text has more than {} KiB.", TextLimits::bytes / 1024));
    if (std::ranges::count(text, '\n') >= TextLimits::lines + 1)
        return fault(TextLimits::lines + 1, 1, msg("The text has more than {} lines.", TextLimits::lines));
    const std::size_t bad = first_bad_byte(text);
    if (bad == text.size()) return true;
    const std::string_view before = text.substr(0, bad);
    const std::size_t line_start = before.find_last_of('\n') + 1;
    return fault(1 + static_cast<int>(std::ranges::count(before, '\n')),
                 column_of(before.substr(line_start), bad - line_start),
                 text[bad] == '\0' ? msg("A NUL character. Remove it.")
                                   : msg("This is not UTF-8. Save the text as UTF-8."));
}

}  // namespace

TextPlace LogicalLine::place(std::size_t offset, std::size_t length) const {
    offset = std::min(offset, text.size());
    const auto piece = std::prev(std::ranges::upper_bound(pieces.begin() + 1, pieces.end(), offset, {}, &Piece::offset));
    const bool goes_on = counted.line == piece->line && counted.offset >= piece->offset && counted.offset <= offset;
    const Piece from = goes_on ? counted : *piece;
    const std::string_view before = std::string_view(text).substr(from.offset, offset - from.offset);
    const std::string_view here = std::string_view(text).substr(offset, length);
    counted = {offset, piece->line, from.column + static_cast<int>(count_characters(before))};
    return {counted.line, counted.column, std::max(1, static_cast<int>(count_characters(here)))};
}

std::string shortened(std::string text) {
    constexpr std::size_t most = 80;
    if (text.size() <= most) return text;
    text.resize(whole_characters(std::string_view(text).substr(0, most)));
    return text + "\u2026";
}

std::vector<LogicalLine> cut_lines(std::string_view text, std::vector<NetworkFault>& faults) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (!is_readable(text, faults)) return {};
    LineCutter cutter(faults);
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        std::string_view line = text.substr(from, to - from);
        if (line.ends_with('\r')) line.remove_suffix(1);
        cutter.add(line);
        from = to + 1;
    }
    return cutter.end();
}

}  // namespace engine::network
