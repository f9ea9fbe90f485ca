#pragma once

#include <QFormLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QWidget>

#include "skips/skips_model.h"
#include "view/context.h"

namespace ui {

class Card;
class ElidedLabel;
class SampleGrid;

/// Why was this step skipped, and where did the number break? The run's skipped steps, the verdict
/// on one with its tests, the chain of layers, the first non-finite tensor, the scales that would
/// have passed, and the samples of the batch.
class SkipsPage final : public QWidget {
    Q_OBJECT
public:
    explicit SkipsPage(const Context& context, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* makeBar();
    Card* makeList();
    QWidget* makeReport();
    Card* makeExponents();
    Card* makeLadder();
    QWidget* makeDetails();
    void showList();
    void showStep();
    void showTests();
    void showLadder();
    void showTensor();
    void showSamples();
    void refreshState();
    void showProgress();
    QString watchText() const;
    void saveCapsule();
    void addFact(QFormLayout* form, const QString& name, const QString& value);

    Context context_;
    SkipsModel* model_;
    QPushButton* examine_;
    QPushButton* capsule_;
    ElidedLabel* state_;
    QListWidget* list_;
    QLabel* summary_;
    QLabel* headline_;
    QLabel* advice_;
    QLabel* tests_;
    Card* chain_;
    QLabel* ladder_;
    QLabel* trial_;
    QFormLayout* tensor_;
    Card* exponents_;
    Card* batch_;
    SampleGrid* samples_;
    QPushButton* arm_;
    bool filling_ = false;
    bool checking_ = false;  ///< the headline says how far a check is
};

}  // namespace ui
