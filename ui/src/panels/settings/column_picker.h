#pragma once

#include <QObject>
#include <QStringList>

class QAction;
class QLineEdit;
class QListWidget;

namespace ui {

/// A button at the end of a line edit that lists the columns of a table, each with a tick, so that
/// nobody has to type their names. Alt+Down opens the list; Space, Return or a click ticks.
class ColumnPicker final : public QObject {
    Q_OBJECT
public:
    explicit ColumnPicker(QLineEdit* edit);

    /// Columns that can be ticked; none: there is no button.
    void setColumns(const QStringList& columns);
    const QStringList& columns() const { return columns_; }
    /// Columns that are ticked when the list opens.
    void setTicked(const QStringList& ticked);
    void setEnabled(bool enabled);
    /// Opens the list below the edit.
    void open();

signals:
    /// Columns in the table's order, whenever a tick changes.
    void picked(const QStringList& columns);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void toggle(int row);
    void showTicks() const;

    QLineEdit* edit_;
    QAction* button_ = nullptr;
    QListWidget* list_ = nullptr;  ///< made when it is first opened
    QStringList columns_, ticked_;
    bool enabled_ = true;
};

}  // namespace ui
