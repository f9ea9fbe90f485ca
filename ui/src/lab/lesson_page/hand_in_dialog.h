#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

class AsideWriter;
class LessonModel;

/// Hands in the answers of all lessons under the learner's name: into the folder of a class, or as
/// a file to send. What was written is told in the dialog. GUI thread.
class HandInDialog final : public QDialog {
    Q_OBJECT
public:
    explicit HandInDialog(LessonModel* model, QWidget* parent = nullptr);

    /// Writes into this folder or file.
    void handIn(const QString& path, bool folder);

private:
    void refresh();
    void say(const QString& text, const char* role);

    LessonModel* model_;
    QLineEdit* name_;
    QLabel* said_;
    bool any_ = false;  ///< there are answers
    AsideWriter* writer_;
    QPushButton* folder_;
    QPushButton* file_;
    QPushButton* cancel_;
};

}  // namespace ui
