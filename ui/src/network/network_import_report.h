#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QListWidget;
class QPushButton;

namespace ui {

class CheckBox;
class ElidedLabel;
class NetworkEditor;
class NetworkImport;
class SettingsModel;

/// Below the text of an imported model: what became of its nodes, each row leading to a line of the
/// text, what training will feed, and what to do with it; or all that is not read. GUI thread.
class NetworkImportReport final : public QFrame {
    Q_OBJECT
public:
    NetworkImportReport(SettingsModel* settings, NetworkImport* import, NetworkEditor* editor, QWidget* parent);
    /// At most so high.
    void setRoom(int height);

signals:
    void trainWanted();
    void editWanted();
    void saveWanted();
    void dataWanted();

private:
    void refresh();
    void addRow(const QString& text, int line = 0, const QString& copy = {});
    void showFound();
    void showProblem();
    void showFeed();
    void go(int row);
    void fit();

    SettingsModel* settings_;
    NetworkImport* import_;
    NetworkEditor* editor_;
    ElidedLabel* title_;
    QListWidget* rows_;
    QLabel* feed_;
    CheckBox* normalize_;
    QPushButton *copy_, *train_, *edit_, *save_, *data_, *close_;
    QString line_;  ///< of Python, to copy
    int room_ = 0;
};

}  // namespace ui
