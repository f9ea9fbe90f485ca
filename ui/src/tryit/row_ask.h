#pragma once

#include <QTimer>
#include <map>

#include "tryit/run_columns.h"

namespace ui {

/// A row of a table as a form: the models answer while it is filled in.
class RowAsk final : public QWidget {
    Q_OBJECT
public:
    RowAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
           QWidget* parent = nullptr);

private:
    QWidget* makeForm();
    QWidget* makeField(const engine::InputForm::Column& column);
    std::map<std::string, std::string> row() const;
    void reset();
    void ask();
    void askOne(RunColumn* column);

    Theme* theme_;
    engine::InputForm form_;
    std::vector<QWidget*> fields_;  ///< of the form's columns
    RunColumns* columns_;
    QTimer soon_;  ///< waits for a pause in typing
};

}  // namespace ui
