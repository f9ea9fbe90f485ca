#pragma once

#include <QDialog>
#include <variant>

#include "feed/background_task.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

class LessonModel;

/// Hands in the answers of all lessons under the learner's name: into the folder of a class, or as
/// a file to send. Shows which file was written. GUI thread.
class HandInDialog final : public QDialog {
    Q_OBJECT
public:
    explicit HandInDialog(LessonModel* model, QWidget* parent = nullptr);

    /// Writes into this folder or file.
    void handIn(const QString& path, bool folder);

private:
    void refresh();
    void setStatus(const QString& text, const char* role);

    LessonModel* model_;
    QLineEdit* name_;
    QLabel* status_;
    bool hasAnswers_ = false;
    BackgroundTask<std::monostate, QString> writing_;  ///< its result is the file
    QPushButton* folder_;
    QPushButton* file_;
    QPushButton* cancel_;
};

}  // namespace ui
