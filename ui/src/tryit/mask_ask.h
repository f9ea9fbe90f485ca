#pragma once

#include <QTimer>

#include "tryit/run_columns.h"

class QPlainTextEdit;

namespace ui {

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
