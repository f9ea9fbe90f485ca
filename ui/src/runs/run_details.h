#pragma once

#include <QFrame>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTableView;

namespace ui {

class DifferenceModel;
class ElidedLabel;

/// Beside the table of runs: name, tags and notes of the selected run, which can be edited, its
/// figures and settings; of several runs the settings in which they differ, and their results.
class RunDetails final : public QFrame {
    Q_OBJECT
public:
    explicit RunDetails(const Context& context, QWidget* parent = nullptr);

    void setRuns(const std::vector<engine::RunSummary>& runs);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeForm();
    void makeTable();
    /// Fields that the user is in keep what was typed.
    void fillForm(const engine::RunSummary& run);
    /// Another run is selected: what was typed goes to the run that it was typed for.
    void leave();
    /// Saves the typed title if it differs from the run's.
    void saveTitle();
    void saveTags();
    void saveNotes();
    void fitColumns();
    bool eventFilter(QObject* watched, QEvent* event) override;

    Context context_;
    DifferenceModel* model_;
    QLabel* words_;  ///< with no run, and above several
    QWidget* form_;
    ElidedLabel* head_;
    QLineEdit* title_;
    QLineEdit* tags_;
    QPlainTextEdit* notes_;
    QTableView* table_;
    std::string run_;  ///< that the form is about; empty: none
    QString savedNotes_;
    QString savedTitle_;
    QString savedTags_;
};

}  // namespace ui
