#pragma once

#include "engine/base/table.h"
#include "tryit/report_models.h"

namespace ui {

/// COCO's twelve figures of masks and of boxes, one a row, in points.
class FigureModel final : public RowModel<std::size_t> {
    Q_OBJECT
public:
    FigureModel(SharedReport report, QObject* parent);

private:
    SharedReport report_;
};

/// A class a row, by masks where the model has some: AP, AP50, AP75 in points, and instances.
/// Qt::UserRole has the number to sort by.
class ClassPrecisionModel final : public RowModel<std::size_t> {
    Q_OBJECT
public:
    enum Column { Name, Ap, Ap50, Ap75, Instances };
    ClassPrecisionModel(SharedReport report, QObject* parent);

private:
    QVariant value(const std::size_t& number, int column, int role) const override;

    SharedReport report_;
};

/// Objects that a detector takes for one another. largestConfusions() lists the most frequent ones
/// first.
struct DetectorConfusion {
    std::int32_t truth, found;  ///< labels; 0: background
    std::int64_t times;
};
std::vector<DetectorConfusion> largestConfusions(const engine::DetectionReport& report,
                                                 std::size_t most);
/// The largest confusions, where there are too many classes for a matrix.
class ConfusionModel final : public RowModel<DetectorConfusion> {
    Q_OBJECT
public:
    ConfusionModel(SharedReport report, QObject* parent);

private:
    QVariant value(const DetectorConfusion& row, int column, int role) const override;
};

/// The pictures with most errors, one a row.
class ErrorModel final : public RowModel<engine::PictureErrors> {
    Q_OBJECT
public:
    ErrorModel(SharedReport report, QObject* parent);

private:
    QVariant value(const engine::PictureErrors& row, int column, int role) const override;
};

/// Classes up to which confusions are a matrix.
inline constexpr std::size_t mostMatrixClasses = 20;

/// Truths (rows) by what was found there, background last; the matrix of ConfusionMatrix::show().
std::vector<std::vector<std::int64_t>> confusionCells(const engine::DetectionReport& report);

/// "AP small"
QString figureTitle(std::size_t figure);
/// "46.1" of a share; "none" for NaN: there is no object of that size.
QString inPoints(double share);
/// The figures and those by class as one table, for a file: keys are English.
engine::Table figureTable(const engine::DetectionReport& report);

}  // namespace ui
