#pragma once

#include <QAction>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>
#include <memory>
#include <vector>

#include "models/settings_model.h"

namespace ui {

class ChoiceBox;
class ColumnPicker;

/// One value of a list: as written in the settings, and as shown.
struct Choice {
    QString value;
    QString title;
    QString help;
    QString why = {};  ///< why it cannot be chosen; empty if it can
};

/// The values that the catalog lists for a field.
std::vector<Choice> catalogChoices(const QString& path);

/// Editor of one field by its path: shows the model's text, writes edits back, marks a changed
/// field with a dot and an invalid one in red, and offers "back to default" in its context menu.
class SettingsField final : public QWidget {
    Q_OBJECT
public:
    /// A line edit with a unit behind the text.
    SettingsField(SettingsModel* model, const QString& path, const QString& unit,
                  QWidget* parent = nullptr);
    /// A list to choose from.
    SettingsField(SettingsModel* model, const QString& path, std::vector<Choice> choices,
                  QWidget* parent = nullptr);
    /// The editor for the field: a check box, a list of the catalog's choices or a line edit.
    static SettingsField* forValue(SettingsModel* model, const QString& path, bool withUnit,
                                   QWidget* parent);

    const QString& path() const { return path_; }
    void setChoices(std::vector<Choice> choices);
    /// A field that names columns of a table offers these; none: their names are typed.
    void setColumns(const QStringList& columns);
    /// Dim words at the right end of a line edit.
    void setUnit(const QString& unit);
    QWidget* editor() const { return editor_; }
    /// A locked field shows its value and takes no input; what it says can still be copied. Draws
    /// the field's icon in the theme's colour.
    void setLocked(bool locked);

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    SettingsField(SettingsModel* model, const QString& path, QWidget* parent);
    void take(QWidget* editor);
    void commitText();
    void addChooser();
    void choosePath();
    bool isFolder() const;
    void nameEditor();
    /// An option may have other words, another unit and other choices in another kind.
    void followKind();
    void refresh();
    void refreshChoice(const QString& text);
    QString choiceTip() const;
    void describe();
    void openMenu(const QPoint& at);

    SettingsModel* model_;
    QString path_;
    std::shared_ptr<const engine::FieldInfo> info_;  ///< as the chosen kind has the field; null: no field
    bool withUnit_ = false;          ///< shows the catalog's unit
    QWidget* editor_ = nullptr;
    QLineEdit* edit_ = nullptr;
    ChoiceBox* combo_ = nullptr;
    ColumnPicker* picker_ = nullptr;  ///< of a field that names columns
    QAction* chooser_ = nullptr;      ///< of a field that names a file or a folder
    QCheckBox* check_ = nullptr;
    QLabel* unit_ = nullptr;
    QWidget* dot_ = nullptr;  ///< shown where the value is not the default
    bool locked_ = false;
    int listed_ = 0;          ///< entries of combo_ that are choices; one more is a refused text
};

/// The label of a field, which is also its help: hover for a sentence, click for the page. `text`
/// replaces the catalog's label, which depends on the chosen kind, if two fields share a row. Never
/// takes the focus; on the keyboard, F1 in the field opens the page.
class FieldLabel final : public QLabel {
    Q_OBJECT
public:
    FieldLabel(SettingsModel* model, const QString& path, const QString& text = {},
               QWidget* parent = nullptr);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    void refresh();

    SettingsModel* model_;
    QString path_;
    QString fixed_;
};

/// A label, the fields that it names, and their errors right below. Hidden while its fields have no
/// effect with the chosen optimizer, clipping or data set.
class SettingsRow final : public QWidget {
    Q_OBJECT
public:
    /// `beside`, which may be null, stands right of the first field.
    SettingsRow(SettingsModel* model, QWidget* label, std::vector<SettingsField*> fields,
                QWidget* beside = nullptr, QWidget* parent = nullptr);

private:
    void refresh();

    SettingsModel* model_;
    std::vector<SettingsField*> fields_;
    QLabel* error_;
};

}  // namespace ui
