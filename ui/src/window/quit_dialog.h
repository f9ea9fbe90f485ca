#pragma once

#include <QDialog>

namespace ui {

/// Asks whether to quit although a run is training, and says what is kept and what is lost. After
/// the answer to quit it stays, saying so, until the window closes.
class QuitDialog final : public QDialog {
    Q_OBJECT
public:
    explicit QuitDialog(QWidget* parent);

signals:
    /// Stop the runs and quit.
    void quitWanted();
};

}  // namespace ui
