#pragma once

#include <QPointer>
#include <QWidget>

#include "lab/lab_page.h"
#include "lab/lessons/lesson_model.h"

class QLabel;
class QPushButton;
class QSplitter;
class QToolButton;

namespace ui {

class InstrumentPanel;
class LessonColumn;
class LessonList;
class PresentWindow;

/// The lessons: their list, the lesson that is open, and its instruments. While it is shown, the
/// command bar acts on the lesson's runs. GUI thread.
class LessonView final : public QWidget {
    Q_OBJECT
public:
    explicit LessonView(const Context& context, QWidget* parent = nullptr,
                        const std::filesystem::path& answers = engine::default_answers_file());
    ~LessonView() override;

    /// Makes the widgets of the page bar.
    QWidget* makeTools(QWidget* parent);
    LessonModel* model() { return model_; }
    LessonColumn* column() { return column_; }
    void present();

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void addKeys();
    void refreshList();
    void refreshTools();
    void showWhere(std::int64_t step);
    void openFile();
    void openInTraining();
    void edit();
    void openInEditor(const QString& file);
    void keepRuns();
    void collectAnswers();
    void saveWorksheet();

    Context context_;
    LessonModel* model_;
    LessonList* list_;
    LessonColumn* column_;
    InstrumentPanel* instruments_;
    QSplitter* splitter_;
    QPointer<PresentWindow> present_;
    QLabel* file_ = nullptr;
    QToolButton* edit_ = nullptr;
    QLabel* changed_ = nullptr;
    QPushButton* reload_ = nullptr;
    QPushButton* keep_ = nullptr;
};

}  // namespace ui
