#pragma once

#include <QListView>

#include "engine/runs/run_store.h"
#include "view/context.h"

namespace ui {

class Panel;
class RunListModel;

/// The runs on disk, newest first. Selecting some lays them over one another, an eye shows and
/// hides each on the plots, and the menu renames, exports and deletes them.
class HistoryPanel final : public QListView {
    Q_OBJECT
public:
    explicit HistoryPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts the menu into the head.
    void attachTo(ui::Panel* panel);  // QFrame has a Panel too
    /// Reads the list anew, off the GUI thread.
    void reload();
    /// Shows the run whose folder this is.
    /// Shows the runs in these folders over one another.
    void openFolders(const QStringList& folders);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void join();
    void fill();
    void offerToResume();
    std::vector<engine::RunSummary> chosen() const;
    void showChosen();
    /// Makes a run of the list that is on screen the selected one.
    void selectRunOf(const QModelIndex& index);
    void followSelectedRun();
    void tracksChanged();
    /// Chooses the runs of the experiment, once they are in the list.
    void chooseLive();
    bool isShown(const std::string& run) const;
    void toggle(const engine::RunSummary& run);
    void fillMenu(QMenu* menu);
    /// Selects these runs, which shows them.
    void chooseAll(const std::vector<engine::RunSummary>& runs);
    void askToDelete();
    void remove(const std::vector<engine::RunSummary>& runs);

    Context context_;
    RunListModel* model_;
    bool offered_ = false;  ///< to resume an interrupted run, once a start
    QStringList wanted_;    ///< folders to open once the runs are listed
    QStringList looked_;      ///< the folder that the list was read anew for
    bool filling_ = false;
    bool chooseLive_ = false;  ///< until the user selects something else
};

}  // namespace ui
