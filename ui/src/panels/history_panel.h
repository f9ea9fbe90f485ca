#pragma once

#include <QTreeView>

#include "context.h"
#include "engine/run_store.h"

namespace ui {

class RunListModel;

/// The runs on disk. Selecting some lays them over one another; the menu exports, opens the folder
/// and takes the settings over.
class HistoryPanel final : public QTreeView {
    Q_OBJECT
public:
    explicit HistoryPanel(const Context& context, QWidget* parent = nullptr);
    /// Reads the list anew, off the GUI thread.
    void reload();
    /// Shows the run whose folder this is.
    void openFolder(const QString& folder);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void fill(std::vector<engine::RunSummary> runs);
    std::vector<engine::RunSummary> chosen() const;
    void showChosen();
    void openMenu(const QPoint& at);

    Context context_;
    RunListModel* model_;
    bool reloading_ = false;
    bool trained_ = false;  ///< when the state last changed
    bool again_ = false;
    QString wanted_;  ///< a folder to open once the runs are listed
    bool filling_ = false;
};

}  // namespace ui
