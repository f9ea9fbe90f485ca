#pragma once

#include <QDialog>
#include <vector>

#include "engine/train/learning_rate_finder.h"
#include "feed/background_task.h"
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

private:
    void makePlot();
    void makeFoot();
    void start();
    /// Draws the points so far.
    void refresh();
    void finish(const engine::FoundRate& found);
    void offer(QPushButton* button, const QString& name, const std::optional<double>& rate);
    void mark(double rate);

    Context context_;
    BackgroundTask<std::vector<engine::RatePoint>, engine::FoundRate> test_;
    QCustomPlot* plot_;
    TimeLeft left_;
    QLabel* words_;
    QPushButton* valley_;
    QPushButton* steepest_;
};

}  // namespace ui
