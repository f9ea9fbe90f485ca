#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "engine/base/message.h"
#include "engine/record/step_record.h"
#include "series/x_axis.h"

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

/// The source of rows: a run's record. Rows below size() never change. Throws nothing: unreadable
/// rows are NaN in a column and zeros in a row, and problem() says why.
class RowSource {
public:
    virtual ~RowSource() = default;
    virtual std::int64_t size() const = 0;
    virtual engine::StepRecord row(std::int64_t index) const = 0;
    virtual void column(Figure figure, std::int64_t first, std::span<double> out) const = 0;
    /// Updates, samples, seconds or the clock of rows, for an x axis of this kind.
    virtual void xColumn(XKind kind, std::int64_t first, std::span<double> out) const = 0;
    /// A reader of the same rows for another thread; empty for rows that are in no record.
    virtual engine::StepRecordReader reader() const { return {}; }
    /// Why rows could not be read; empty while all could.
    virtual engine::Message problem() const { return {}; }
};
std::shared_ptr<RowSource> recordSource(engine::StepRecordReader reader);

/// The column that an x axis of this kind counts by.
Figure columnOf(XKind kind);

}  // namespace ui
