#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "engine/record/step_record.h"

namespace ui {

/// A plotted quantity of a run: a column of its step record, as doubles. A plot names any field, as
/// in `&engine::StepRecord::lr`, so a new field needs no change here.
class Figure {
public:
    template <typename T>
    constexpr Figure(T engine::StepRecord::*column) : column_(column) {}

    double of(const engine::StepRecord& row) const {
        return std::visit([&](auto column) { return static_cast<double>(row.*column); }, column_);
    }
    /// Rows [first, first + out.size()). Throws what StepRecordReader::column() throws.
    void read(const engine::StepRecordReader& record, std::int64_t first,
              std::span<double> out) const {
        std::visit([&](auto column) { record.column(column, first, out); }, column_);
    }

    bool operator==(const Figure&) const = default;

private:
    template <typename T>
    using Column = T engine::StepRecord::*;
    std::variant<Column<float>, Column<double>, Column<std::int64_t>, Column<std::int32_t>,
                 Column<std::uint8_t>>
        column_;
};

}  // namespace ui
