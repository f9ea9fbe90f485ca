#pragma once

#include <QLabel>
#include <QTimer>

#include "tryit/draw_board.h"
#include "tryit/run_columns.h"

namespace ui {


/// Pictures for the models: drawn, chosen or dropped, and each model's answer.
class PictureAsk final : public QWidget {
    Q_OBJECT
public:
    PictureAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
               QWidget* parent = nullptr);

    DrawBoard* board() const { return board_; }
    /// Reads it off the GUI thread.
    void openFile(const QString& file);

private:
    QLayout* makeLeft();
    QLayout* makeButtons();
    void chooseFile();
    void ask();
    void askOne(RunColumn* column, const engine::Picture& picture, bool first);
    void showSeen(const engine::Picture& seen);

    Theme* theme_;
    engine::InputForm form_;
    DrawBoard* board_;
    QLabel* seen_;
    QLabel* problem_;
    RunColumns* columns_;
    QTimer soon_;  ///< asks once for strokes that come close together
};

}  // namespace ui
