#pragma once

#include <QDialog>

#include "engine/runs/cluster.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace ui {

class Commands;

/// The batch script of jobs for Slurm, with what its placeholders stand for, and the folder in
/// which jobs lie. Says what is wrong as it is typed.
class ClusterDialog final : public QDialog {
    Q_OBJECT
public:
    ClusterDialog(Commands* commands, QWidget* parent);

private:
    QLayout* makeFolder();
    QLayout* makeButtons();
    engine::ClusterSettings typed() const;
    void check();
    void save();

    Commands* commands_;
    QLineEdit* folder_;
    QPlainTextEdit* script_;
    QLabel* problem_;
    QPushButton* save_;
};

}  // namespace ui
