#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "engine/lab/lesson.h"
#include "feed/row_source.h"
#include "lab/lessons/lesson_notes.h"
#include "plots/plot_content.h"
#include "view/context.h"

namespace ui {

class LessonRuns;
class LinePlot;
class RunTrack;

/// The plots of a lesson on one x axis, stacked or side by side: its runs, faintly those before a
/// knob was turned, and the predictions as dashed lines beside the measured curves. GUI thread.
class LessonPlots final : public QWidget {
    Q_OBJECT
public:
    /// `scale` of words and `curveWidth` in pixels: larger on a projector; 1 and 0 otherwise.
    struct Size {
        double scale = 1;
        double curveWidth = 0;
        bool fits = false;  ///< side by side and low, so that all are seen at once
    };
    LessonPlots(const Context& context, const LessonRuns* runs, engine::Lesson lesson, Size size,
                QWidget* parent = nullptr);

    /// Guesses, by the prediction's id.
    void setGuesses(const std::map<QString, Guess>& guesses);
    /// Whether the lines of what was measured are drawn.
    void setMeasuredShown(bool shown);
    const std::vector<LinePlot*>& plots() const { return plots_; }

private:
    int height(const engine::LessonPlot& plot) const;
    PlotLook look(const engine::LessonPlot& plot) const;
    void rebuild();
    PlotContent content(const engine::LessonPlot& plot) const;
    void addRuns(PlotContent& content, const engine::LessonPlot& plot) const;
    void addMarks(PlotContent& content, const engine::LessonPlot& plot) const;
    void addDrawn(PlotContent& content, const engine::LessonPlot& plot) const;

    Context context_;
    const LessonRuns* runs_;
    engine::Lesson lesson_;
    Size size_;
    std::vector<LinePlot*> plots_;
    std::map<QString, Guess> guesses_;
    bool measured_ = true;
};

/// A column's name on screen; the column itself where it has no other.
QString columnTitle(const std::string& column);
/// The record's field, or the metric of the run's task, of this name; nothing if it has none.
std::optional<Figure> figureNamed(const RunTrack& track, const std::string& column);

}  // namespace ui
