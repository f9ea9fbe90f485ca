#pragma once

#include <QFrame>
#include <array>
#include <string>
#include <vector>

#include "engine/base/metric.h"

class QGridLayout;
class QLabel;

namespace ui {

class ElidedLabel;
class RunTrack;

/// Figures of a run: loss, the test part's primary metric, throughput and peak memory, formatted
/// for the window.
struct CardFigures {
    QString loss;
    QString metric;
    QString speed;
    QString peak;
};
/// "–" for what is not measured yet; null: a run to come.
CardFigures figuresOf(const RunTrack* track);
/// Captions of the four figures, for a task's metrics and the name of one sample.
std::array<QString, 4> figureCaptions(const std::vector<engine::Metric>& metrics,
                                      const std::string& unit);
/// "diverged at step 23", or the run's state.
QString stateOf(const RunTrack& track);

/// One run: its name in its colour, a note, and its four figures beside them or below.
class RunCard final : public QFrame {
    Q_OBJECT
public:
    RunCard(const QString& title, const QColor& color, QWidget* parent);

    /// Width that shows the figures beside the name, or below it.
    static int wideWidth();
    static int tallWidth();
    /// Height of all cards, whatever they say.
    static int heightFor(bool wide);
    void setWide(bool wide);
    /// Sets the title of what the run trains, see taskTitle().
    void setTask(const QString& task);
    /// Names the second and third figure: by the task's metrics and the name of one sample.
    void setMeasures(const std::vector<engine::Metric>& metrics, const std::string& unit);
    void show(const RunTrack* track, bool baseline);

private:
    void addFigure(std::size_t i, const QString& caption, const QString& widest);

    QGridLayout* grid_;
    QWidget* names_;
    QWidget* figures_;
    ElidedLabel* task_;  ///< data and model
    ElidedLabel* note_;
    std::array<QLabel*, 4> captions_{};
    std::array<QLabel*, 4> values_{};
    QString title_;
};

}  // namespace ui
