#pragma once

#include <QObject>
#include <string>

class QMenu;
class QTreeView;

namespace ui {

class RunTableModel;

/// The columns of the table of runs: which there are, how wide they are, and the order of the rows,
/// which a click on a head changes. All of it is remembered. GUI thread.
class RunTableColumns final : public QObject {
    Q_OBJECT
public:
    /// Belongs to the table, which shows the model.
    RunTableColumns(QTreeView* table, RunTableModel* model);

    /// Gives the model the columns and the order that were remembered.
    void restore();
    /// Applies widths and the mark of the order, once the columns or the rows have been made anew.
    void apply();
    /// The run's column takes the width that the others leave.
    void fillWidth();
    /// A line for each field, ticked if it has a column.
    void fillMenu(QMenu* menu);

signals:
    /// The usual columns are back.
    void restored();

private:
    void showMenu(const QPoint& at);
    void setColumn(const std::string& field, bool shown);
    void sortWhere(int column);
    void resized(int column, int width);
    int widestText(int column) const;

    QTreeView* table_;
    RunTableModel* model_;
    bool applying_ = false;  ///< this class changes widths, not the user
};

}  // namespace ui
