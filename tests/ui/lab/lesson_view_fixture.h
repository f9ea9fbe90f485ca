#pragma once

#include "lab/lab_page.h"
#include "lab/lesson_page/lesson_column.h"
#include "lab/lesson_page/lesson_step.h"
#include "lab/lesson_page/lesson_view.h"
#include "lab/lesson_page/question_form.h"
#include "lesson_folder.h"
#include "panels/frame/command_bar.h"
#include "support/lesson_texts.h"
#include "window_fixture.h"

namespace ui {

inline constexpr int patience = 60'000;  // ms

/// A folder of its own for the Lab's answers, which the window writes when it closes: a base class,
/// so that it outlives the window.
struct LessonHome {
    LessonHome() : before(qgetenv("XDG_DATA_HOME")) {
        qputenv("XDG_DATA_HOME", data.path().toUtf8());
    }
    ~LessonHome() { qputenv("XDG_DATA_HOME", before); }

    QTemporaryDir data;
    QByteArray before;
};

/// The window with a lesson, opened as if from the command line.
struct LessonViewTest : LessonHome, WindowFixture {
    LessonViewTest() {
        commands.openPath(writeLesson(data, QStringLiteral("small"), test_support::small_lesson()));
        view = window->findChild<LessonView*>();
    }
    bool run() {
        view->column()->questions()[0]->choose(2);
        Guess stop;
        stop.number = 7;
        view->model()->setGuess(view->model()->questions()[1], stop);
        commands.compare();
        return QTest::qWaitFor([&] { return view->model()->ended(); }, patience);
    }
    std::vector<LessonStep*> steps() const {
        const auto found = view->column()->findChildren<LessonStep*>();
        return {found.begin(), found.end()};
    }
    QPushButton* primary() const {
        return window->findChild<CommandBar*>()->findChild<QPushButton*>(QStringLiteral("primary"));
    }

    LessonView* view = nullptr;
};

}  // namespace ui
