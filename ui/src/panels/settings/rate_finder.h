#pragma once

#include <QDialog>
#include <memory>
#include <vector>

#include "engine/train/learning_rate_finder.h"
#include "text/format.h"
#include "view/context.h"

class QCustomPlot;
class QLabel;
class QPushButton;

namespace ui {

/// Runs a learning-rate range test of the current settings and shows its curve as it grows, then
/// the suggested rates, each with a button that takes it over. Closing ends the test.
class RateFinder final : public QDialog {
    Q_OBJECT
public:
    explicit RateFinder(const Context& context, QWidget* parent = nullptr);
    ~RateFinder() override;

private:
    struct Test;  ///< what the test's thread and the dialog share
    void makePlot();
    void makeFoot();
    void start();
    /// Draws the points so far.
    void refresh();
    void finish(const engine::FoundRate& found);
    void offer(QPushButton* button, const QString& name, const std::optional<double>& rate);
    void mark(double rate);

    Context context_;
    std::shared_ptr<Test> test_;
    QCustomPlot* plot_;
    TimeLeft left_;
    QLabel* words_;
    QPushButton* valley_;
    QPushButton* steepest_;
    QTimer* timer_;
};

}  // namespace ui
