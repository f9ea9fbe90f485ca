#pragma once

#include <QScrollArea>
#include <vector>

#include "engine/lab/lesson.h"
#include "lab/lessons/lesson_model.h"
#include "view/context.h"

class QLabel;
class QVBoxLayout;

namespace ui {

class CheckTable;
class KnobBar;
class LessonPlots;
class LessonStep;
class QuestionForm;

/// The lesson to read, from its title to Try: each step with its text, questions, plots, checks and
/// knobs. At most 75 characters wide. GUI thread.
class LessonColumn final : public QScrollArea {
    Q_OBJECT
public:
    /// How it is shown to a class on a projector; the plain one: at the desk.
    struct Look {
        double scale = 1;       ///< of words
        double curveWidth = 0;  ///< of curves, pixels; 0: the usual one
        bool oneStep = false;   ///< shows a step at a time, and hands beside choices
    };
    LessonColumn(const Context& context, LessonModel* model, Look look, QWidget* parent = nullptr);

    /// Scrolls to the step, counted from 0, or shows it alone.
    void showStep(int step);
    int shownStep() const { return shown_; }
    int steps() const { return static_cast<int>(steps_.size()); }
    /// Chooses an answer of the question that has the focus, else of the first that is open.
    bool choose(int number);
    const std::vector<QuestionForm*>& questions() const { return questions_; }
    /// Gives the first question the focus.
    void focusFirst();
    /// Shows or hides the answers: a presentation hides them until Check is shown.
    void setAnswersShown(bool shown);

signals:
    void stepShown(int step);
    /// The plots are to show this step of the runs.
    void whereWanted(std::int64_t step);

private:
    void build();
    void offerPause(bool offered);
    QWidget* makeHead(const engine::Lesson& lesson);
    void addStep(QVBoxLayout* column, const engine::Lesson& lesson, std::size_t index);
    QWidget* makePart(const engine::Lesson& lesson, const engine::LessonPart& part, QWidget* at);
    QWidget* makeRunName(const engine::Lesson& lesson, std::size_t run, QWidget* parent);
    QWidget* makeRuns(const engine::Lesson& lesson, QWidget* parent);
    QWidget* makePlots(const engine::Lesson& lesson, const std::vector<engine::LessonPlot>& plots,
                       QWidget* parent);
    QWidget* makeKnobs(const engine::Lesson& lesson, const std::vector<engine::LessonKnob>& knobs,
                       QWidget* parent);
    QWidget* makeProblem(const engine::LessonProblem& problem, QWidget* parent);
    void refresh();
    void refreshSteps();
    void refreshFailures();
    QString noteOf(int step) const;

    Context context_;
    LessonModel* model_;
    Look look_;
    QWidget* page_ = nullptr;
    std::vector<LessonStep*> steps_;
    std::vector<QuestionForm*> questions_;
    std::vector<LessonPlots*> plots_;
    std::vector<CheckTable*> checks_;
    std::vector<KnobBar*> knobs_;
    std::vector<QLabel*> failures_;  ///< beside the name of each run: why it ended early
    int shown_ = 0;
    QWidget* column_ = nullptr;
    int lineWidth_ = 0;  ///< of the 75 characters, pixels
    bool answersShown_ = true;
    QWidget* pauseOffer_ = nullptr;  ///< null: the lesson has no runs
};

}  // namespace ui
