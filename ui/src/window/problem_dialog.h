#pragma once

#include <QDialog>
#include <vector>

#include "engine/report/problem_report.h"

class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace ui {

class Commands;

/// Shows every text of a problem report before it is saved as one archive. The texts are made off
/// the GUI thread.
class ProblemDialog final : public QDialog {
    Q_OBJECT
public:
    ProblemDialog(engine::ProblemFacts facts, Commands* commands, QWidget* parent);

private:
    void fill(const std::vector<engine::ProblemFile>& files);
    void save();

    Commands* commands_;
    std::vector<engine::ProblemFile> files_;
    QListWidget* list_;
    QPlainTextEdit* text_;
    QPushButton* save_;
};

}  // namespace ui
