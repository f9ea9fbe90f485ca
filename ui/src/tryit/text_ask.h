#pragma once

#include "tryit/run_columns.h"

class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace ui {

/// Text for language models to continue: each run's goes on beside the others'.
class TextAsk final : public QWidget {
    Q_OBJECT
public:
    TextAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
            QWidget* parent = nullptr);

    bool isGenerating() const { return generating_ > 0; }

private:
    QWidget* makeControls(const engine::InputForm& form);
    QLineEdit* addField(QLayout* row, const QString& label, const QString& value,
                        const QString& help);
    /// The values of the fields; marks an invalid one, and then returns nothing.
    std::optional<engine::GenerateOptions> options();
    void generate();
    void generateOne(RunColumn* column, const engine::GenerateOptions& options);
    void stop();
    void ended();
    void refresh();

    Theme* theme_;
    QPlainTextEdit* prompt_;
    QLineEdit* length_;
    QLineEdit* temperature_;
    QLineEdit* topK_;
    QLineEdit* seed_;
    QPushButton* go_;
    QPushButton* stop_;
    RunColumns* columns_;
    int generating_ = 0;  ///< runs whose text is going on
};

}  // namespace ui
