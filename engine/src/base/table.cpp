#include "engine/base/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

using TextRow = std::vector<std::string>;

/// Width in a terminal: continuation bytes of UTF-8 do not count.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell.value)) return one_line(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return std::to_string(*whole);
    const auto* real = std::get_if<double>(&cell.value);
    return real == nullptr ? "-" : number_text(cell.format, *real);
}

std::string csv_of(const Cell& cell, bool raw) {
    if (const auto* text = std::get_if<std::string>(&cell.value)) return csv_cell(*text, raw);
    if (std::holds_alternative<std::monostate>(cell.value)) return {};
    const auto* real = std::get_if<double>(&cell.value);
    return real != nullptr && std::isnan(*real) ? "nan" : text_of(cell);
}

/// The head and the rows, each with a text for each column.
template <typename Write>
std::vector<TextRow> all_rows(const Table& table, const Write& write) {
    std::vector<TextRow> out(1);
    for (const std::string& name : table.columns) out.front().push_back(write(Cell(name)));
    for (const Table::Row& row : table.rows) {
        TextRow& texts = out.emplace_back();
        for (const Cell& cell : row) texts.push_back(write(cell));
    }
    return out;
}

}  // namespace

Cell finite_cell(double number, const char* printf_format) {
    return std::isfinite(number) ? Cell(number, printf_format) : Cell();
}

std::string to_text(const Table& table, std::size_t left) {
    const auto rows = all_rows(table, text_of);
    std::vector<std::size_t> widths(table.columns.size());
    for (const TextRow& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::string out;
    for (const TextRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width_of(row[i]), ' ');
            out += (i > 0 ? "  " : "") + (i < left ? row[i] + space : space + row[i]);
        }
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n';
    }
    return out;
}

std::string to_csv(const Table& table, bool raw) {
    std::string out;
    for (const TextRow& row : all_rows(table, [raw](const Cell& cell) { return csv_of(cell, raw); })) {
        for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "," : "") + row[i];
        out += '\n';
    }
    return out;
}

std::string to_markdown(const Table& table, std::size_t left) {
    std::string out, rule = "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        rule += i < left || i + 1 == table.columns.size() ? " --- |" : " ---: |";
    for (const TextRow& row : all_rows(table, text_of)) {
        out += out.empty() ? "|" : std::string("\n|");
        for (std::string text : row) {
            for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
                text.insert(at, 1, '\\');
            out += " " + text + " |";
        }
        if (!rule.empty()) out += '\n' + std::exchange(rule, {});
    }
    return out + '\n';
}

void to_json(nlohmann::ordered_json& out, const Table& table) {
    out = nlohmann::ordered_json::array();
    for (const Table::Row& row : table.rows) {
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < row.size(); ++i)
            std::visit([&](const auto& value) {
                using T = std::remove_cvref_t<decltype(value)>;
                auto& at = object[table.columns[i]];
                if constexpr (std::is_same_v<T, double>) at = json_number(value);
                else if constexpr (!std::is_same_v<T, std::monostate>) at = value;
            }, row[i].value);
        out.push_back(std::move(object));
    }
}

std::string number_text(const char* format, double value) {
    if (std::isnan(value)) return "-";
    std::array<char, 48> text;
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

}  // namespace engine
