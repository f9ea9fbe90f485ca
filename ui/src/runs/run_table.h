#pragma once

#include <QTreeView>
#include <set>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

namespace ui {

class RunTableColumns;
class RunTableModel;

/// The table of the page Runs. A click on a star or the key S sets it, F2 renames, Enter opens,
/// Delete asks to delete. The selection follows its runs when rows change.
class RunTable final : public QTreeView {
    Q_OBJECT
public:
    explicit RunTable(const Context& context, QWidget* parent = nullptr);

    RunTableModel* runs() const { return model_; }
    /// The selected runs, and those of selected groups, each once, in the order of the table.
    std::vector<engine::RunSummary> chosen() const;
    void select(const std::set<std::string>& runs);
    void setGrouped(bool grouped);
    RunTableColumns* columns() const { return columns_; }
    /// Why the table is empty.
    void setEmptyText(const QString& text);
    void renameCurrent();
    /// Whether one row is selected: a run, or a comparison or sweep.
    bool canRename() const;
    void toggleStars();

signals:
    void chosenChanged();
    void openWanted();
    void deleteWanted();
    void menuWanted(const QPoint& global);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option,
                 const QModelIndex& index) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    /// Letters are commands here, not the beginning of a row's name.
    void keyboardSearch(const QString&) override {}

private:
    /// After rows have been made anew.
    void restore();
    void restoreGroups();
    bool isOnStar(const QPoint& at) const;

    Context context_;
    RunTableModel* model_;
    RunTableColumns* columns_;
    QString emptyText_;
    std::set<std::string> kept_;    ///< selected when the rows began to change
    std::string current_;           ///< the run that had the focus then
    std::set<std::string> closed_;  ///< groups that were folded
    bool restoring_ = false;
};

}  // namespace ui
