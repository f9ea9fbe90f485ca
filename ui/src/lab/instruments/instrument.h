#pragma once

#include <QWidget>

#include "engine/lab/lesson.h"
#include "lab/lessons/lesson_model.h"
#include "view/context.h"

class QLabel;

namespace ui {

class Card;

/// Arguments from which an instrument is made.
struct InstrumentSetup {
    const Context& context;
    LessonModel* model;
    const engine::LessonInstrument& instrument;
    QWidget* parent;
};

/// An instrument that a lesson shows beside its plots, at their step. GUI thread.
class Instrument : public QWidget {
    Q_OBJECT
public:
    explicit Instrument(const InstrumentSetup& from);
    virtual QString title() const = 0;
    /// Text of the head beside the title; empty: none.
    virtual QString note() const { return {}; }
    /// Called when the runs have advanced or another step was selected; 0: there is none yet.
    virtual void showStep(std::int64_t step) = 0;

signals:
    /// A result computed in the background arrived: note() has changed.
    void noteChanged();

protected:
    /// The runs that the lesson names for it; without a name all of the lesson's.
    std::vector<std::string> namedRuns() const;

    Context context_;
    LessonModel* model_;
    engine::LessonInstrument instrument_;
};

/// Makes the instrument of one kind. Its class is in the source named for it.
using InstrumentFactory = Instrument*(const InstrumentSetup& from);

/// The instruments of a lesson, each in a card, stacked or side by side. They follow the crosshair
/// of the plots, else the selected step, else the newest one. GUI thread.
class InstrumentPanel final : public QWidget {
    Q_OBJECT
public:
    /// `scale` of words: larger on a projector.
    InstrumentPanel(const Context& context, LessonModel* model, double scale,
                    Qt::Orientation direction, QWidget* parent = nullptr);

    /// Whether the lesson has any.
    bool any() const { return !instruments_.empty(); }

signals:
    void rebuilt();

private:
    void build();
    void refresh();
    std::int64_t shownStep() const;
    struct Shown {
        engine::LessonInstrument::Kind kind;
        Instrument* instrument;
        QLabel* cover;  ///< stands in its place while it would tell the answer
        Card* card;
    };
    /// Whether the number or sum would give away an answer that is still to be predicted.
    bool revealsAnswer(const Shown& shown) const;
    QWidget* addCard(const engine::LessonInstrument& instrument, QWidget* parent);

    Context context_;
    LessonModel* model_;
    double scale_;
    Qt::Orientation direction_;
    QWidget* page_ = nullptr;
    std::vector<Shown> instruments_;
};

}  // namespace ui
