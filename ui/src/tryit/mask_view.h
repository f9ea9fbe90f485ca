#pragma once

#include <QWidget>

#include "tryit/tried_model.h"

class QLabel;
class QVBoxLayout;

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

}  // namespace ui
