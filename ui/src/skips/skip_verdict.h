#pragma once

#include <QLabel>
#include <QWidget>

#include "skips/skips_model.h"

namespace ui {

class Card;
class Theme;

/// The verdict on a skipped step, with its tests and the chain of its layers. Also makes two cards
/// that its owner places: exponents before and after, and the outcome at other scales. GUI thread.
class SkipVerdict final : public QWidget {
    Q_OBJECT
public:
    SkipVerdict(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);

    Card* exponents() const { return exponents_; }
    Card* ladder() const { return ladder_; }

signals:
    /// The user asks to compute the step again without the selected sample.
    void withoutSampleWanted();

private:
    QWidget* makeHead();
    Card* makeChain();
    void makeExponents();
    void makeLadder();
    void refresh();
    void showHead();
    QString sinceGrowth() const;
    void showTests();
    void showChain();
    void showExponents();
    void showLadder();
    void showProgress();

    const Theme* theme_;
    SkipsModel* model_;
    QLabel* headline_;
    QLabel* advice_;
    QLabel* tests_;
    Card* chain_;
    Card* exponents_;
    Card* ladder_;
    QLabel* scales_;
    QLabel* trial_;
    QWidget* trials_;        ///< holds the buttons that compute the step again
    bool checking_ = false;  ///< the headline shows the progress of a check
};

}  // namespace ui
