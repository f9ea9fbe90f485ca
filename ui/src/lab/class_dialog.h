#pragma once

#include <QDialog>

#include "engine/lesson_answers.h"

class QLabel;
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

private:
    void fill(const LessonShelf& shelf);
    void saveCsv();

    engine::ClassAnswers answers_;
    QTableWidget* table_;
    QLabel* unread_;
};

}  // namespace ui
