#pragma once

#include <QDialog>
#include <variant>

#include "engine/lab/lesson_answers.h"
#include "feed/background_task.h"

class QLabel;
class QPushButton;
class QTableWidget;

namespace ui {

class LessonShelf;

/// The answers of a class, collected from a folder: for each prediction how many gave each answer,
/// beside what was measured; all answers as CSV. GUI thread.
class ClassDialog final : public QDialog {
    Q_OBJECT
public:
    /// Throws engine::Error(data) if there is no such folder.
    ClassDialog(const QString& folder, const LessonShelf& shelf, QWidget* parent = nullptr);

    /// Writes all answers into this file.
    void saveCsv(const QString& file);

private:
    void fill(const LessonShelf& shelf);
    void askAndSave();
    void showWriting();
    void say(const QString& text, const QString& role);

    engine::ClassAnswers answers_;
    QTableWidget* table_;
    QLabel* unread_;
    QLabel* said_;  ///< how the writing of the table went
    BackgroundTask<std::monostate, QString> writing_;  ///< its result is the file
    QPushButton* save_ = nullptr;
    QPushButton* cancel_ = nullptr;
};

}  // namespace ui
