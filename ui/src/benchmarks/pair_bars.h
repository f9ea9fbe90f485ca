#pragma once

#include <QWidget>
#include <array>
#include <string>

#include "engine/instruments/speedup.h"

namespace ui {

class Theme;

/// The horizontal positions in a line of bars, in pixels from its left edge: names, then speed,
/// memory and largest batch.
struct BarColumns {
    struct Column {
        double bar, barWidth;      ///< the bars
        double label, labelWidth;  ///< their figures, right of them
    };
    double nameWidth;
    std::array<Column, 3> columns;
};
BarColumns barColumns(int width);

/// A figure of FP32 and of the other precision. NaN: not measured.
struct BarPair {
    double ratio;  ///< of the other precision's bar to FP32's
    QString fp32, other;
    bool atLeast = false;  ///< the other one is a lower bound, so the ratio is, too
};

/// The range of each column in lengths of FP32's bar, the same for all lines of a picture.
struct BarScale {
    double speed = 1, memory = 1, batch = 1;

    void include(const engine::Speedup& row);
};

/// A precision, below FP32 if that has not been shown for the model: bars for speed, peak memory
/// and largest batch side by side, each with its figure. All are in lengths of FP32's own bar.
class PairBars final : public QWidget {
    Q_OBJECT
public:
    PairBars(const Theme* theme, const engine::Speedup& row, const BarScale& scale, bool withFp32,
             QWidget* parent = nullptr);
    bool withFp32() const { return withFp32_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme* theme_;
    bool withFp32_;
    std::string precision_;
    std::array<BarPair, 3> pairs_;
    std::array<double, 3> most_;
};

/// The names of the columns, above the lines.
class BarHeads final : public QWidget {
    Q_OBJECT
public:
    /// `batchMemory`: memory limit of the largest batches in bytes; 0 if there are several, or
    /// none.
    BarHeads(const Theme* theme, std::int64_t batchMemory, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme* theme_;
    std::array<QString, 3> titles_;
    std::array<QString, 3> notes_;
};

}  // namespace ui
