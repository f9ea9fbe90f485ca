#pragma once

#include <QObject>
#include <memory>

#include "lab/lessons/check_table.h"
#include "lab/lessons/lesson_notes.h"
#include "lab/lessons/lesson_runs.h"
#include "lab/lessons/lesson_shelf.h"
#include "view/context.h"

namespace ui {

/// The lesson that is open: its text, what the learner predicted, its runs and what they measured.
/// The column, the instruments and the presentation show it. GUI thread.
class LessonModel final : public QObject {
    Q_OBJECT
public:
    /// `answers`: the learner's file.
    explicit LessonModel(const Context& context, QObject* parent = nullptr,
                         const std::filesystem::path& answers = engine::default_answers_file());

    LessonShelf* shelf() { return &shelf_; }
    LessonRuns* runs() { return &runs_; }
    LessonNotes& notes() { return notes_; }
    /// The lessons with the learner's progress.
    std::vector<LessonEntry> entries() const;
    const QString& name() const { return name_; }
    /// Null: none is open.
    const std::shared_ptr<const engine::Lesson>& lesson() const { return lesson_; }

    void openLesson(const QString& name);
    /// A lesson, or a folder or zip archive of lessons; its first one is then shown.
    void openPath(const QString& path);
    /// Reads the file again; the answers stay.
    void reload();
    /// Forgets answers and runs of the lesson.
    void reset();

    std::vector<Question> questions() const;
    Guess guess(const QString& id) const;
    void setGuess(const Question& question, const Guess& guess);
    std::map<QString, Guess> guesses() const;
    /// Every question is answered.
    bool predicted() const;
    /// The run has started: answers cannot be changed.
    bool locked() const { return runs_.phase() != LessonRuns::Phase::notRun; }
    bool ended() const { return runs_.phase() == LessonRuns::Phase::ended; }
    /// The run has ended, or has once: Why and Try are open, also while a knob runs it again.
    bool opened() const { return ended() || !runs_.former().empty(); }
    /// The step of the lesson that the learner has reached.
    int currentStep() const;
    /// The step with the runs; 0 if there are none.
    int runStep() const;
    /// First step that opens when the run ends; the number of steps if none does.
    int firstClosedStep() const;
    std::vector<CheckRow> checkRows() const;
    /// The learner has reached a step, from 0.
    void reach(int step);

signals:
    void listChanged();
    /// Another lesson is open, or its text is new.
    void lessonChanged();
    void answersChanged();
    /// Its file was changed by another program.
    void fileChanged();

private:
    void show(const QString& name);
    /// The lesson in the language that the window has now. Its runs and answers stay.
    void retranslate();
    void updateLock();
    void keepMeasured();
    CheckRow rowOf(const engine::LessonCheck& check) const;
    void report(const engine::Error& error);

    Context context_;
    LessonShelf shelf_;
    LessonNotes notes_;
    /// Hands that a class has shown, by lesson and question. Only counted: the file keeps the most
    /// frequent choice.
    std::map<QString, std::map<QString, std::map<QString, int>>> hands_;
    LessonRuns runs_;
    QString name_;
    std::shared_ptr<const engine::Lesson> lesson_;
    /// The lesson in the previous language: views read it until they are made anew.
    std::shared_ptr<const engine::Lesson> former_;
};

}  // namespace ui
