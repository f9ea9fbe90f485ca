#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/message.h"
#include "engine/record/step_record.h"
#include "feed/figure.h"
#include "series/x_axis.h"

namespace ui {

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
