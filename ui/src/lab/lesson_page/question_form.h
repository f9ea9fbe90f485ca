#pragma once

#include <QWidget>
#include <vector>

#include "lab/lessons/lesson_notes.h"

class QButtonGroup;
class QLineEdit;
class QSpinBox;

namespace ui {

class CurveSketch;
class RangeSlider;
class Theme;

/// One question with the means to answer it: choices, a number with its unit, a slider, or a curve
/// to draw. Locked once the run has started. GUI thread.
class QuestionForm final : public QWidget {
    Q_OBJECT
public:
    QuestionForm(const Theme* theme, Question question, QWidget* parent = nullptr);

    const Question& question() const { return question_; }
    const Guess& guess() const { return guess_; }
    void setGuess(const Guess& guess);
    /// A locked answer is shown and cannot be changed.
    void setLocked(bool locked);
    bool isLocked() const { return locked_; }
    /// Adds a field beside each choice for the number of hands that a class shows; the choice with
    /// the most hands is the answer.
    void showHands();
    /// Selects a choice by its number, from 1; false if there is none or the answer is locked.
    bool choose(int number);

signals:
    void answered();

private:
    void addChoices(QLayout* column);
    void addNumber(QLayout* column);
    void addSlider(QLayout* column);
    void addSketch(QLayout* column);
    void refresh();
    void countHands();

    const Theme* theme_;
    Question question_;
    Guess guess_;
    bool locked_ = false;
    QButtonGroup* choices_ = nullptr;
    std::vector<QSpinBox*> hands_;
    QLineEdit* number_ = nullptr;
    RangeSlider* slider_ = nullptr;
    CurveSketch* sketch_ = nullptr;
};

}  // namespace ui
