#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// Nothing, a number or a text.
struct Cell {
    Cell() = default;
    Cell(std::string text) : value(std::move(text)) {}
    Cell(const char* text) : value(std::string(text)) {}
    Cell(std::integral auto number) : value(static_cast<std::int64_t>(number)) {}
    Cell(double number, const char* printf_format = "%.9g")
        : value(number), format(printf_format) {}
    template <typename T>
    Cell(const std::optional<T>& known) : Cell(known ? Cell(*known) : Cell()) {}

    std::variant<std::monostate, std::int64_t, double, std::string> value;
    const char* format = "";  ///< of a double, in text and CSV
};

/// Nothing for NaN and infinity.
Cell finite_cell(double number, const char* printf_format = "%.9g");

/// Rows with a cell for each column.
struct Table {
    using Row = std::vector<Cell>;
    std::vector<std::string> columns;
    std::vector<Row> rows{};
};

/// For a terminal: the first `left` columns are aligned to the left, the others, which hold
/// numbers, to the right. Texts are cleaned (one_line()); "-" stands for nothing and NaN.
std::string to_text(const Table& table, std::size_t left);
/// Texts by csv_cell(); nothing is an empty cell.
std::string to_csv(const Table& table, bool raw = false);
/// The first `left` columns and the last one hold texts, the others numbers.
std::string to_markdown(const Table& table, std::size_t left);

/// A number by a printf format for one double; "-" for NaN.
std::string number_text(const char* format, double value);

}  // namespace engine
