#include "network/python_text.h"

#include <algorithm>
#include <array>

namespace engine::network {
namespace {

constexpr std::size_t line_width = 88;

bool is_written(const Python& item) { return item.usual.empty() || item.open != 0 || item.text != item.usual; }

std::vector<const Python*> written_items(const Python& expression) {
    std::vector<const Python*> items;
    for (const Python& item : expression.items)
        if (is_written(item)) items.push_back(&item);
    return items;
}

bool is_parted(const Python& expression) {
    return (expression.parted && expression.items.size() > 1) || std::ranges::any_of(expression.items, is_parted);
}

std::string opening(const Python& expression) {
    std::string text = expression.keyword.empty() ? expression.text : expression.keyword + '=' + expression.text;
    if (expression.open != 0) text += expression.open;
    return text;
}

/// Characters, not bytes.
std::size_t written_width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Python python_call(std::string callee, std::vector<Python> items) {
    Python call(std::move(callee));
    call.open = '(';
    call.items = std::move(items);
    return call;
}

Python python_list(std::vector<Python> items) {
    Python list = python_call({}, std::move(items));
    list.open = '[';
    return list;
}

Python python_named(std::string keyword, Python value, std::string usual) {
    value.keyword = std::move(keyword);
    value.usual = std::move(usual);
    return value;
}

Python python_slot(std::string slot, std::string text) {
    Python value(std::move(text));
    value.slot = std::move(slot);
    return value;
}

std::string python_string(std::string_view text) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7F) {
            out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
        } else {
            out += c;
        }
    }
    return out + '"';
}

bool is_python_name(std::string_view name) {
    static constexpr std::array keywords = {"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
                                            "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
                                            "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"};
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && letter(name.front()) && std::ranges::all_of(name, part) && std::ranges::find(keywords, name) == keywords.end();
}

std::string flat(const Python& expression) {
    std::string text = opening(expression);
    if (expression.open == 0) return text;
    bool first = true;
    for (const Python* item : written_items(expression)) {
        text += (first ? "" : ", ") + flat(*item);
        first = false;
    }
    return text + (expression.open == '[' ? ']' : ')');
}

void write_python(std::string& out, int indent, const std::string& before, const Python& expression, const std::string& after) {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    const std::string line = margin + before + flat(expression) + after;
    const auto items = written_items(expression);
    if (items.empty() || (!is_parted(expression) && written_width(line) <= line_width)) {
        out += line + '\n';
        return;
    }
    out += margin + before + opening(expression) + '\n';
    const std::string inner(static_cast<std::size_t>(indent + 4), ' ');
    std::string joined;
    for (const Python* item : items) joined += (joined.empty() ? "" : ", ") + flat(*item);
    if (!is_parted(expression) && written_width(inner + joined) <= line_width) {
        out += inner + joined + '\n';
    } else {
        for (const Python* item : items) write_python(out, indent + 4, {}, *item, items.size() > 1 ? "," : "");
    }
    out += margin + (expression.open == '[' ? ']' : ')') + after + '\n';
}

}  // namespace engine::network
