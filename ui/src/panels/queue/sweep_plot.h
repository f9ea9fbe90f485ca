#pragma once

#include <vector>

#include "engine/runs/sweep.h"
#include "plots/custom_plot.h"

namespace ui {

class Theme;

/// The metric of the points of a sweep against the first varying field: a curve for each
/// combination of the other fields, with the spread over the seeds. Values that are not numbers are
/// placed in their order. GUI thread.
class SweepPlot final : public QCustomPlot {
    Q_OBJECT
public:
    explicit SweepPlot(Theme* theme, QWidget* parent = nullptr);

    /// `figure`: what is plotted, "test accuracy".
    void setRows(std::vector<engine::SweepRow> rows, const QString& figure);

private:
    void applyStyle();
    void draw();
    void describe();

    Theme* theme_;
    std::vector<engine::SweepRow> rows_;
    QString figure_;
};

/// A point of the plot.
struct SweepDot {
    double x = 0;
    double y = 0;
    double spread = 0;
};
/// Dots of one combination of the other fields, by x.
struct SweepCurve {
    QString name;
    std::vector<SweepDot> dots;
};
struct SweepCurves {
    QString field;       ///< on the x axis
    QStringList values;  ///< of x = 0, 1, ... where they are no numbers; else empty
    bool logarithmic = false;
    std::vector<SweepCurve> curves;
};
SweepCurves sweepCurves(const std::vector<engine::SweepRow>& rows);

}  // namespace ui
