#pragma once

#include <QDialog>

namespace ui {

/// Asks whether to quit although a run is training, and says what is kept and what is lost. After
/// an answer to quit it stays, saying so, until the window closes.
class QuitDialog final : public QDialog {
    Q_OBJECT
public:
    /// `canTrainOn`: the runs can go on without this window.
    QuitDialog(bool canTrainOn, QWidget* parent);

signals:
    /// Stop the runs and quit.
    void quitWanted();
    /// Stop the runs, go on with them in another process, and quit.
    void trainOnWanted();
};

}  // namespace ui
