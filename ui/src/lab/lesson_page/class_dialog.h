#pragma once

#include <QDialog>

#include "engine/lab/lesson_answers.h"

class QLabel;
class QPushButton;
class QTableWidget;

namespace ui {

class AsideWriter;
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

    engine::ClassAnswers answers_;
    QTableWidget* table_;
    QLabel* unread_;
    QLabel* said_;  ///< how the writing of the table went
    AsideWriter* writer_;
    QPushButton* save_ = nullptr;
    QPushButton* cancel_ = nullptr;
};

}  // namespace ui
