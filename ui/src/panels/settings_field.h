#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>
#include <vector>

#include "models/settings_model.h"

namespace ui {

/// One value of a list: as written in the settings, and as shown.
struct Choice {
    QString value;
    QString title;
    QString help;
};

/// Editor of one field by its path: shows the model's text, hands edits back, marks a changed field
/// with an accent border and a refused one in red, and offers "back to default" in its context
/// menu.
class SettingsField final : public QWidget {
    Q_OBJECT
public:
    /// A line edit with a unit behind the text.
    SettingsField(SettingsModel* model, const QString& path, const QString& unit,
                  QWidget* parent = nullptr);
    /// A list to choose from.
    SettingsField(SettingsModel* model, const QString& path, std::vector<Choice> choices,
                  QWidget* parent = nullptr);
    /// A check box where the field is true or false, else a line edit.
    static SettingsField* forValue(SettingsModel* model, const QString& path, const QString& unit,
                                   QWidget* parent);

    const QString& path() const { return path_; }
    void setChoices(std::vector<Choice> choices);
    /// Dim words at the right end of a line edit.
    void setUnit(const QString& unit);
    QWidget* editor() const { return editor_; }

private:
    SettingsField(SettingsModel* model, const QString& path, QWidget* parent);
    void take(QWidget* editor);
    void refresh();
    void openMenu(const QPoint& at);

    SettingsModel* model_;
    QString path_;
    QWidget* editor_ = nullptr;
    QLineEdit* edit_ = nullptr;
    QComboBox* combo_ = nullptr;
    QCheckBox* check_ = nullptr;
    QLabel* unit_ = nullptr;
};

/// The label of a field, which is its help: hover for a sentence, click for the page. `text`
/// replaces the catalog's label where two fields share a row.
class FieldLabel final : public QPushButton {
    Q_OBJECT
public:
    FieldLabel(SettingsModel* model, const QString& path, const QString& text = {},
               QWidget* parent = nullptr);
};

}  // namespace ui
