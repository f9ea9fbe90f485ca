#include "lab/lesson_text.h"

#include "engine/base/plain_text.h"

#include <algorithm>
#include <array>

namespace engine {
namespace {

constexpr std::array block_kinds = {"network", "predict", "runs", "plot", "instrument", "check", "try"};
constexpr std::array reserved = {"all", "pace", "expect", "resume", "result", "and",
                                 "or",  "not",  "mean",   "first",  "isnan",  "last",
                                 "min", "max",  "count",  "xray",   "skip"};

bool is_fence(std::string_view line) { return line.starts_with("```"); }

/// Reads a lesson's lines into its front matter, steps, Markdown and blocks.
class Structure {
public:
    Structure(std::vector<LessonLine> lines, Lesson& lesson)
        : lines_(std::move(lines)), lesson_(lesson) {}

    std::vector<RawBlock> read() {
        read_front_matter();
        for (; at_ < lines_.size(); ++at_) read_line(lines_[at_]);
        end_markdown();
        if (lesson_.steps.empty())
            problem(1, msg("The lesson has no step: a line such as “## Read”."));
        return std::move(blocks_);
    }

private:
    void problem(int line, const Message& text) { lesson_.problems.push_back({line, text}); }

    void read_front_matter() {
        if (lines_.empty() || stripped(lines_[0].text) != "---")
            return problem(1, msg("A lesson begins with “---” and its title."));
        for (at_ = 1; at_ < lines_.size(); ++at_) {
            if (stripped(lines_[at_].text) == "---") {
                ++at_;
                if (lesson_.title.empty()) problem(1, msg("The lesson has no title."));
                return;
            }
            read_front_line(lines_[at_]);
        }
        at_ = 1;
        problem(1, msg("The front matter has no closing “---”."));
    }
    void read_front_line(const LessonLine& line) {
        if (stripped(line.text).empty()) return;
        const auto pair = split_at_colon(line.text);
        if (!pair)
            return problem(line.number, msg("The front matter has lines such as “title: ...”."));
        const auto& [key, value] = *pair;
        if (key == "title") {
            lesson_.title = value;
        } else if (key == "chapter") {
            lesson_.chapter = value;
        } else if (key == "minutes") {
            const auto minutes = number_in(value);
            if (!minutes || *minutes < 1 || *minutes > 600)
                return problem(line.number, msg("Minutes are a number from 1 to 600."));
            lesson_.minutes = static_cast<int>(*minutes);
        } else {
            problem(line.number,
                    msg("The front matter has no “{}”: title, chapter or minutes.", key));
        }
    }

    void read_line(const LessonLine& line) {
        if (is_fence(line.text)) return read_fence(line);
        if (line.text.starts_with("## ")) {
            end_markdown();
            lesson_.steps.push_back(
                {std::string(stripped(std::string_view(line.text).substr(3))), {}, line.number});
            return;
        }
        if (lesson_.steps.empty() && !stripped(line.text).empty()) {
            if (!reported_early_text_)
                problem(line.number, msg("Text must follow a heading such as “## Read”."));
            reported_early_text_ = true;
            return;
        }
        add_markdown(line);
    }
    void add_markdown(const LessonLine& line) {
        if (markdown_.text.empty()) markdown_.line = line.number;
        markdown_.text += line.text + '\n';
    }
    void end_markdown() {
        if (!lesson_.steps.empty() && !stripped(markdown_.text).empty())
            lesson_.steps.back().parts.emplace_back(std::move(markdown_));
        markdown_ = {};
    }

    void read_fence(const LessonLine& fence) {
        RawBlock block;
        block.line = fence.number;
        const std::string_view info = stripped(std::string_view(fence.text).substr(3));
        const std::size_t blank = info.find(' ');
        block.kind = info.substr(0, blank);
        if (blank != std::string_view::npos) block.argument = stripped(info.substr(blank));
        const std::size_t first = at_ + 1;
        for (++at_; at_ < lines_.size() && !is_fence(lines_[at_].text); ++at_)
            block.lines.push_back(lines_[at_]);
        if (at_ == lines_.size()) problem(block.line, msg("The block has no closing “```”."));
        if (block.kind.empty()) return keep_as_text(first - 1);
        if (lesson_.steps.empty())
            return problem(block.line, msg("A block must follow a heading such as “## Read”."));
        end_markdown();
        block.step = lesson_.steps.size() - 1;
        block.part = lesson_.steps.back().parts.size();
        lesson_.steps.back().parts.emplace_back(LessonProblem{block.line, {}});
        if (std::ranges::find(block_kinds, block.kind) == block_kinds.end()) {
            const LessonProblem unknown{
                block.line,
                msg("There is no block “{}”: network, predict, runs, plot, instrument, check or try.",
                    block.kind)};
            lesson_.problems.push_back(unknown);
            lesson_.steps.back().parts.back() = unknown;
            return;
        }
        blocks_.push_back(std::move(block));
    }
    void keep_as_text(std::size_t first) {
        for (std::size_t i = first; i <= at_ && i < lines_.size(); ++i) add_markdown(lines_[i]);
    }

    std::vector<LessonLine> lines_;
    Lesson& lesson_;
    std::size_t at_ = 0;
    LessonMarkdown markdown_;
    std::vector<RawBlock> blocks_;
    bool reported_early_text_ = false;
};

}  // namespace

std::string_view stripped(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

std::vector<LessonLine> split_lines(std::string_view text) {
    std::vector<LessonLine> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back({static_cast<int>(lines.size()) + 1, std::string(line)});
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    int brackets = 0;
    bool quoted = false;
    for (const char c : text) {
        const bool blank = (c == ' ' || c == '\t') && brackets == 0 && !quoted;
        if (blank) {
            if (!word.empty()) words.push_back(std::move(word));
            word.clear();
            continue;
        }
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '[' || c == '{')) ++brackets;
        if (!quoted && (c == ']' || c == '}')) brackets = std::max(0, brackets - 1);
        word += c;
    }
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

std::optional<std::pair<std::string, std::string>> split_at_colon(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return std::pair{std::string(stripped(text.substr(0, colon))),
                     std::string(stripped(text.substr(colon + 1)))};
}

bool is_lesson_name(std::string_view text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text.empty() || digit(text[0]) || std::ranges::find(reserved, text) != reserved.end())
        return false;
    return std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

std::optional<double> number_in(std::string_view text) {
    text = stripped(text);
    std::string plain;  // "3,000" is a number as a person writes it
    for (const char c : text)
        if (c != ',') plain += c;
    return to_number<double>(plain);
}

std::pair<double, double> range_in(std::string_view text, int line) {
    const std::size_t dots = text.find("..");
    const bool two = dots != std::string_view::npos;
    const auto low = number_in(text.substr(0, dots));
    const auto high = number_in(two ? text.substr(dots + 2) : std::string_view());
    if (!low || !high || !(*low < *high))
        throw LessonError{line, msg("“{}” is not a range: use two numbers such as 0 .. 3000.",
                                    std::string(stripped(text)))};
    return {*low, *high};
}

std::vector<RawBlock> read_structure(std::string_view text, Lesson& lesson) {
    return Structure(split_lines(text), lesson).read();
}

}  // namespace engine
