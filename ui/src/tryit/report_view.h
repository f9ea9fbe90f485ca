#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QStackedWidget>
#include <QVariant>

#include "text/format.h"
#include "tryit/report_models.h"
#include "tryit/tried_model.h"

class QListWidget;
class QTableView;

namespace ui {

class ConfusionMatrix;
class Theme;

/// How a model does on a part of its data: figures, then one of the parts that show more.
class ReportView final : public QWidget {
    Q_OBJECT
    /// The report, for widgets/widget_state.h; invalid before there is one.
    Q_PROPERTY(QVariant kept READ kept WRITE setKept)
public:
    /// The last two are a detector's alone.
    enum Part { Matrix, Classes, Hardest, Figures, Curves, parts };
    ReportView(Theme* theme, const std::string& precision, QWidget* parent = nullptr);

    void show(SharedReport report, const ModelFacts& facts);
    const SharedReport& report() const { return report_; }
    QVariant kept() const;
    void setKept(const QVariant& shown);
    /// A part that the report does not have says so.
    void showPart(Part part);
    /// Whether a report has it; one without classes has no confusion matrix.
    static bool has(const engine::PartReport& report, Part part);
    /// The share that is done; below 0: not evaluating.
    void setProgress(double share);

private:
    static void showMatrix(ConfusionMatrix& matrix, const engine::PartReport& report,
                           const std::vector<std::string>& classes);
    void showFigures(const ModelFacts& facts);
    /// The parts of a detector's report.
    void showDetections();
    void replace(Part part, QWidget* with);
    QTableView* makeTable(QAbstractItemModel* model, const QString& name);
    QWidget* makePictures(const ModelFacts& facts);
    int addPicture(QListWidget* list, const engine::HardSample& sample, const ModelFacts& facts);
    QWidget* makeNote(const QString& text);

    Theme* theme_;
    std::string precision_;
    SharedReport report_;
    ModelFacts facts_;  ///< of the model that it is about
    QLabel* figures_;
    QLabel* samples_;
    QProgressBar* progress_;
    QLabel* left_;  ///< how long the evaluation still takes
    TimeLeft time_;
    QStackedWidget* stack_;
};

}  // namespace ui
