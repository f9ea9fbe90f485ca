#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "feed/row_source.h"

namespace ui {

/// Rows from a list instead of a record.
class ListSource final : public RowSource {
public:
    explicit ListSource(std::vector<engine::StepRecord> rows) : rows_(std::move(rows)) {}
    std::int64_t size() const override { return std::ssize(rows_); }
    engine::StepRecord row(std::int64_t index) const override {
        return rows_.at(static_cast<std::size_t>(index));
    }
    void column(Figure figure, std::int64_t first, std::span<double> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = figure.of(rows_.at(static_cast<std::size_t>(first) + i));
    }
    void xColumn(XKind kind, std::int64_t first, std::span<double> out) const override {
        column(columnOf(kind), first, out);
    }

private:
    std::vector<engine::StepRecord> rows_;
};

inline std::shared_ptr<RowSource> listSource(std::vector<engine::StepRecord> rows) {
    return std::make_shared<ListSource>(std::move(rows));
}

}  // namespace ui
