#pragma once

#include <QTimer>
#include <QWidget>

#include "tryit/run_columns.h"
#include "tryit/tried_model.h"

class QLabel;
class QVBoxLayout;
class QPlainTextEdit;

namespace ui {

class Theme;

/// One model's words for the masks of a text: the text with the most probable words, and the shares
/// of the likeliest words for each mask.
class MaskView final : public QWidget {
    Q_OBJECT
public:
    MaskView(Theme* theme, std::string precision, QWidget* parent = nullptr);

    /// `text` has as many `mask`s as there are fillings.
    void show(const QString& text, const QString& mask,
              const std::vector<engine::FilledMask>& filled);
    /// A dim sentence in the fillings' place.
    void showNote(const QString& note);
    const std::vector<engine::FilledMask>& filled() const { return filled_; }

private:
    void addMask(const engine::FilledMask& mask);
    void clear();

    Theme* theme_;
    std::string precision_;
    QLabel* sentence_;
    QVBoxLayout* column_;
    std::vector<QWidget*> parts_;
    std::vector<engine::FilledMask> filled_;
};

/// A word of a vocabulary as it is shown: white space has a sign.
QString shownWord(const std::string& word);

/// A text with masks for masked language models to fill. The words of each run are shown side by
/// side, and follow the text while it is edited.
class MaskAsk final : public QWidget {
    Q_OBJECT
public:
    MaskAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
            QWidget* parent = nullptr);

private:
    QWidget* makeTextCard();
    void insertMask();
    void ask();
    void askOne(RunColumn* column, const QString& text);

    Theme* theme_;
    engine::InputForm form_;
    QString mask_;
    QPlainTextEdit* text_;
    RunColumns* columns_;
    QTimer soon_;
};

}  // namespace ui
