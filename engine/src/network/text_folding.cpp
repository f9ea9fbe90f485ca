#include "network/text_folding.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "network/module_path.h"

namespace engine::network {
namespace {

/// A line before it is written: head(arguments)tail.
struct FoldedLine {
    int depth = 0;
    std::string head{};
    std::vector<TextArgument> arguments{};
    std::string tail{};
    bool is_repeat = false;  ///< its argument stands without brackets
    std::string block{};     ///< that it uses, by its name in the text

    friend bool operator==(const FoldedLine&, const FoldedLine&) = default;
};
using FoldedLines = std::vector<FoldedLine>;

/// A statement: its lines, the first one without the label.
struct FoldedItem {
    std::string label{};
    FoldedLines lines{};
};

struct NumberedLabel {
    std::string front{};
    std::int64_t number = 0;
};

/// "layer" and 3 of "layer3".
std::optional<NumberedLabel> numbered(const std::string& label) {
    std::size_t at = label.size();
    while (at > 0 && is_digit(label[at - 1])) --at;
    constexpr std::size_t most_digits = 6;
    if (at == label.size() || label.size() - at > most_digits || (label[at] == '0' && label.size() - at > 1)) return {};
    return NumberedLabel{label.substr(0, at), std::stoll(label.substr(at))};
}

/// Whether the second of two statements, `runs` runs later, is the first one again.
bool comes_again(const FoldedItem& first, const FoldedItem& second, std::size_t runs) {
    if (first.lines != second.lines || first.label.empty() != second.label.empty()) return false;
    if (first.label.empty()) return true;
    const auto a = numbered(first.label), b = numbered(second.label);
    return a && b && a->front == b->front && b->number == a->number + static_cast<std::int64_t>(runs);
}

void write_line(std::string& out, const FoldedLine& line) {
    out.append(2 * static_cast<std::size_t>(line.depth), ' ');
    out += line.head;
    if (line.is_repeat) {
        out += line.arguments.front().text;
    } else {
        std::string inner;
        for (const TextArgument& each : line.arguments) {
            if (!each.usual.empty() && each.text == each.usual) continue;
            inner += (inner.empty() ? "" : ", ") + (each.keyword.empty() ? "" : each.keyword + '=') + each.text;
        }
        if (!inner.empty()) out += '(' + inner + ')';
    }
    out += line.tail + '\n';
}

std::size_t count_lines(const std::vector<FoldedItem>& items, std::size_t from, std::size_t count) {
    std::size_t lines = 0;
    for (std::size_t i = from; i < from + count; ++i) lines += items[i].lines.size();
    return lines;
}

struct FoundRepeat {
    std::size_t length = 1, runs = 1;  ///< statements, and how often they come
};

/// The repeat from a statement on that saves most lines.
FoundRepeat find_repeat(const std::vector<FoldedItem>& items, std::size_t from) {
    constexpr std::size_t longest = 32, most_runs = 1000;
    FoundRepeat best;
    std::size_t saved = 0;
    for (std::size_t length = 1; length <= longest && from + 2 * length <= items.size(); ++length) {
        std::size_t runs = 1;
        const auto runs_again = [&] {
            for (std::size_t i = from; i < from + length; ++i)
                if (!comes_again(items[i], items[i + runs * length], runs)) return false;
            return true;
        };
        while (runs < most_runs && from + (runs + 1) * length <= items.size() && runs_again()) ++runs;
        const std::size_t lines = (runs - 1) * count_lines(items, from, length);
        if (lines <= saved + 1) continue;
        saved = lines - 1;
        best = {length, runs};
    }
    return best;
}

/// Adds the lines of a statement, deeper by `depth`.
void add_item(FoldedLines& out, const FoldedItem& item, const std::string& label, int depth) {
    for (std::size_t i = 0; i < item.lines.size(); ++i) {
        out.push_back(item.lines[i]);
        out.back().depth += depth;
        if (i == 0 && !label.empty()) out.back().head = label + (out.back().head.empty() ? ":" : ": ") + out.back().head;
    }
}

FoldedLines folded(const std::vector<FoldedItem>& items, int depth) {
    FoldedLines out;
    for (std::size_t at = 0; at < items.size();) {
        const auto [length, runs] = find_repeat(items, at);
        if (runs == 1) {
            add_item(out, items[at], items[at].label, 0);
            ++at;
            continue;
        }
        const bool labelled = std::any_of(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(at + length),
                                          [](const FoldedItem& item) { return !item.label.empty(); });
        out.push_back({depth, "repeat ", {{.text = std::to_string(runs), .slot = "times"}}, labelled ? " as i:" : ":", true});
        for (std::size_t i = at; i < at + length; ++i) {
            std::string label;
            if (const auto number = numbered(items[i].label))
                label = number->front + (number->number == 0 ? "{i}" : "{i + " + std::to_string(number->number) + '}');
            add_item(out, items[i], label, 1);
        }
        at += runs * length;
    }
    return out;
}

/// Whether two bodies differ in numbers alone.
bool are_alike(const FoldedLines& a, const FoldedLines& b) {
    return std::ranges::equal(a, b, [](const FoldedLine& x, const FoldedLine& y) {
        return x.depth == y.depth && x.head == y.head && x.tail == y.tail && std::ranges::equal(x.arguments, y.arguments, [](const TextArgument& p, const TextArgument& q) {
            return p.keyword == q.keyword && p.slot == q.slot && (!p.slot.empty() || p.text == q.text);
        });
    });
}

/// A block that some uses share.
struct FoldedBlock {
    std::string head{};
    FoldedLines lines{};
};

class Folder {
public:
    explicit Folder(const std::vector<BlockUse>& uses) : uses_(uses), calls_(uses.size()) {}

    FoldedText run(const std::vector<TextStatement>& body) {
        FoldedText out;
        const FoldedLines own = lines(body, 1);
        for (const FoldedLine& line : own) write_line(out.body, line);
        write_blocks(out.blocks, own);
        return out;
    }

private:
    /// The blocks that these lines use, each once and behind those that it uses: a text written once more has this order too.
    void write_blocks(std::string& out, const FoldedLines& lines) {
        for (const FoldedLine& line : lines) {
            auto block = blocks_.extract(line.block);
            if (block.empty()) continue;
            write_blocks(out, block.mapped().lines);
            out += block.mapped().head;
            for (const FoldedLine& each : block.mapped().lines) write_line(out, each);
        }
    }

    FoldedLines lines(const std::vector<TextStatement>& body, int depth) {
        std::vector<FoldedItem> items;
        for (const TextStatement& statement : body) {
            FoldedLine line{.depth = depth, .head = statement.before + statement.callee, .arguments = statement.arguments, .tail = statement.from};
            if (statement.block >= 0) {
                const FoldedLine& call = this->call(static_cast<std::size_t>(statement.block));
                line.head += call.head;
                line.arguments = call.arguments;
                line.block = call.block;
            }
            FoldedItem item{statement.label, {std::move(line)}};
            const FoldedLines inner = lines(statement.body, depth + 1);
            item.lines.insert(item.lines.end(), inner.begin(), inner.end());
            items.push_back(std::move(item));
        }
        return folded(items, depth);
    }

    /// A use of a block: the name and the arguments.
    const FoldedLine& call(std::size_t use) {
        if (!calls_[use]) make_blocks(uses_[use].block);
        return *calls_[use];
    }

    /// One block for all uses of this name, or several where they differ in more than numbers.
    void make_blocks(const std::string& name) {
        struct Group {
            std::vector<std::size_t> uses{};
            std::vector<FoldedLines> lines{};
        };
        std::vector<Group> groups;
        for (std::size_t use = 0; use < uses_.size(); ++use) {
            if (uses_[use].block != name) continue;
            FoldedLines own = lines(uses_[use].body, 1);
            const auto group = std::ranges::find_if(groups, [&](const Group& each) {
                return uses_[each.uses.front()].inputs == uses_[use].inputs && are_alike(each.lines.front(), own);
            });
            if (group == groups.end()) {
                groups.push_back({{use}, {std::move(own)}});
            } else {
                group->uses.push_back(use);
                group->lines.push_back(std::move(own));
            }
        }
        for (Group& group : groups) make_block(name, group.uses, group.lines);
    }

    void make_block(const std::string& name, const std::vector<std::size_t>& uses, const std::vector<FoldedLines>& all) {
        FoldedLines own = all.front();
        std::vector<std::vector<std::string>> columns;  // of each parameter: its text in each use
        std::vector<std::string> parameters;
        std::set<std::string> taken = {"i"};  // of repeats
        for (std::size_t line = 0; line < own.size(); ++line) {
            for (std::size_t i = 0; i < own[line].arguments.size(); ++i) {
                TextArgument& argument = own[line].arguments[i];
                std::vector<std::string> column;
                for (const FoldedLines& each : all) column.push_back(each[line].arguments[i].text);
                if (std::ranges::adjacent_find(column, std::ranges::not_equal_to{}) == column.end()) continue;
                auto found = std::ranges::find(columns, column);
                if (found == columns.end()) {
                    parameters.push_back(unique_name(argument.slot, taken));
                    found = columns.insert(columns.end(), std::move(column));
                }
                argument.text = parameters[static_cast<std::size_t>(found - columns.begin())];
                argument.usual.clear();
            }
        }
        const std::string made = unique_name(name, block_names_);
        std::string head = "block " + made + '(';
        for (std::size_t i = 0; i < parameters.size(); ++i) head += (i == 0 ? "" : ", ") + parameters[i];
        head += ')';
        for (std::size_t i = 0; i < uses_[uses.front()].inputs.size(); ++i) head += (i == 0 ? " of " : ", ") + uses_[uses.front()].inputs[i];
        blocks_.emplace(made, FoldedBlock{head + ":\n", std::move(own)});
        for (std::size_t use = 0; use < uses.size(); ++use) {
            FoldedLine call{.head = made, .block = made};
            for (std::size_t i = 0; i < parameters.size(); ++i)
                call.arguments.push_back({.keyword = i == 0 ? std::string() : parameters[i], .text = columns[i][use], .slot = parameters[i]});
            calls_[uses[use]] = std::move(call);
        }
    }

    const std::vector<BlockUse>& uses_;
    std::vector<std::optional<FoldedLine>> calls_;
    std::set<std::string> block_names_;
    std::map<std::string, FoldedBlock> blocks_;
};

}  // namespace

FoldedText fold_text(const std::vector<BlockUse>& uses, const std::vector<TextStatement>& body) { return Folder(uses).run(body); }

}  // namespace engine::network
