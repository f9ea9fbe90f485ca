#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;

namespace ui {

class NumberModel;
class Theme;

/// A question whose answer stays hidden until a guess is entered. Afterwards a click puts its
/// number into the view.
struct GuessQuestion {
    QString question;  ///< "65504 + 16"
    double answer = 0;
    QString before;  ///< below the question while the answer is hidden
    QString after;   ///< below it then
    QString number;  ///< what a click shows
};

class GuessCard final : public QFrame {
    Q_OBJECT
public:
    GuessCard(const Theme* theme, NumberModel* model, GuessQuestion question,
              QWidget* parent = nullptr);

    bool answered() const { return answered_; }
    QLineEdit* guess() const { return guess_; }
    /// Hides the answer again.
    void reset();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void reveal();
    void showNumber();
    void refresh();

    const Theme* theme_;
    NumberModel* model_;
    GuessQuestion question_;
    QLineEdit* guess_;
    QLabel* answer_;
    QLabel* note_;
    bool answered_ = false;
};

/// The four questions about FP16, two a row.
class GuessCards final : public QFrame {
    Q_OBJECT
public:
    GuessCards(const Theme* theme, NumberModel* model, QWidget* parent = nullptr);

    const QList<GuessCard*>& cards() const { return cards_; }

private:
    QList<GuessCard*> cards_;
};

}  // namespace ui
