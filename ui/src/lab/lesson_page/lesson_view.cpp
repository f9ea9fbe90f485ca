#include "lab/lesson_page/lesson_view.h"

#include <QAction>
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QHideEvent>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QTemporaryDir>
#include <QToolButton>
#include <QUrl>
#include <filesystem>

#include "commands/commands.h"
#include "engine/base/error.h"
#include "engine/runs/export.h"
#include "engine/runs/run_store.h"
#include "feed/event_feed.h"
#include "lab/instruments/instrument.h"
#include "lab/lesson_page/class_dialog.h"
#include "lab/lesson_page/hand_in_dialog.h"
#include "lab/lesson_page/lesson_column.h"
#include "lab/lesson_page/present_window.h"
#include "lab/lesson_page/worksheet.h"
#include "lab/lessons/lesson_list.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "text/named_output.h"
#include "theme/theme.h"
#include "view/context.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"

namespace ui {
namespace {

void copyRuns(const std::vector<std::filesystem::path>& folders, engine::RunStore& store) {
    const QTemporaryDir between;
    for (const auto& folder : folders) {
        const auto file = std::filesystem::path(between.path().toStdString()) / "run.halftone";
        engine::export_run_file(folder, file);
        store.import_run(file);
    }
}

/// Copies the runs of the lesson into the history, off the window's thread, and says so.
void keepRuns(const Context& context, LessonModel* model) {
    const auto store = context.feed->store();
    std::vector<std::filesystem::path> folders;
    for (const auto& run : model->runs()->snapshot().runs) {
        if (!run.folder.empty()) folders.push_back(run.folder);
    }
    if (!store || folders.empty()) return;
    // On the worker's thread: as long as it lives, so do the runs' folders.
    inBackground(
        model,
        [folders, store] {
            copyRuns(folders, *store);
            return std::ssize(folders);
        },
        [context](const Outcome<std::ptrdiff_t>& kept) {
            if (kept.error)
                return context.commands->report(
                    engine::Error(engine::ErrorCode::io, kept.error->message()));
            emit context.feed->storeChanged();
            context.commands->report({LessonModel::tr("%1 runs of the lesson are in the history.")
                                          .arg(count(*kept.result)),
                                      LessonModel::tr("They are under Runs."),
                                      engine::ErrorCode::state, true});
        },
        model->runs()->worker()->executor());
}

}  // namespace

LabView makeLessonsView(const Context& context, QWidget* parent) {
    auto* view = new LessonView(context, parent);
    return {view, view->makeTools(parent)};
}

LessonView::LessonView(const Context& context, QWidget* parent,
                       const std::filesystem::path& answers)
    : QWidget(parent),
      context_(context),
      model_(context.kept != nullptr ? kept<LessonModel>(context, this)
                                     : new LessonModel(context, this, answers)),
      list_(new LessonList(context.theme, this)),
      column_(new LessonColumn(context, model_, {})),
      instruments_(new InstrumentPanel(context, model_, 1, Qt::Vertical)),
      splitter_(new QSplitter(Qt::Horizontal, this)) {
    auto* row = makeRow(this);
    auto* card = makeCard(this);
    auto* inside = makeColumn(card, {1, 1, 1, 1});
    inside->addWidget(column_);
    for (QWidget* part : {static_cast<QWidget*>(list_), static_cast<QWidget*>(card),
                          static_cast<QWidget*>(instruments_)})
        splitter_->addWidget(part);
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(size::gap);
    splitter_->setStretchFactor(0, 0);
    splitter_->setStretchFactor(1, 3);
    splitter_->setStretchFactor(2, 2);
    list_->setMinimumWidth(150);
    list_->setMaximumWidth(300);
    card->setMinimumWidth(360);
    instruments_->setMinimumWidth(280);
    splitter_->setSizes({212, 690, 440});
    row->addWidget(splitter_);
    connect(list_, &LessonList::chosen, model_, &LessonModel::openLesson);
    connect(list_, &LessonList::openWanted, this, &LessonView::openFile);
    connect(model_, &LessonModel::listChanged, this, &LessonView::refreshList);
    connect(model_, &LessonModel::lessonChanged, this, [this] {
        if (changed_ != nullptr) changed_->hide();
        if (reload_ != nullptr) reload_->hide();
        refreshTools();
    });
    connect(list_, &LessonList::entered, column_, &LessonColumn::focusFirst);
    connect(model_, &LessonModel::fileChanged, this, [this] {
        if (changed_ != nullptr) changed_->show();
        if (reload_ != nullptr) reload_->show();
    });
    connect(column_, &LessonColumn::whereWanted, this, &LessonView::showWhere);
    connect(column_, &LessonColumn::stepShown, model_, &LessonModel::reach);
    connect(instruments_, &InstrumentPanel::rebuilt, this,
            [this] { instruments_->setVisible(instruments_->any()); });
    connect(model_->runs(), &LessonRuns::phaseChanged, this, [this] {
        const bool runs = model_->runs()->phase() == LessonRuns::Phase::running;
        // The processor is the lesson's; plots keep to their share of it.
        if (!context_.commands->experimentRuns()) context_.scheduler->setSaving(runs);
        refreshTools();
    });
    connect(context_.commands, &Commands::lessonsOpened, this, [this] {
        const QString path = context_.commands->takeLessons();
        if (!path.isEmpty()) model_->openPath(path);
    });
    instruments_->setVisible(instruments_->any());
    addKeys();
    refreshList();
    if (model_->locked()) {
        // Its runs began before this view was made, in another language.
        emit model_->answersChanged();
        model_->runs()->announce();
    }
    const QString waiting = context_.commands->takeLessons();
    if (!waiting.isEmpty()) model_->openPath(waiting);
}

LessonView::~LessonView() {
    if (context_.commands->actor() == model_->runs()) context_.commands->setActor(nullptr);
    // The presentation refers to the model's runs, and the model, created first, would be destroyed
    // first.
    delete present_.data();
    delete splitter_;
}

void LessonView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    context_.commands->setActor(model_->runs());
}

void LessonView::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (!event->spontaneous() && context_.commands->actor() == model_->runs())
        context_.commands->setActor(nullptr);
}

void LessonView::addKeys() {
    const auto add = [this](const QString& id, const QString& title, const QKeySequence& key,
                            auto slot) {
        addPageKey(this, u"lab/"_s + id, title, {key}, slot);
    };
    for (int number = 1; number <= 9; ++number) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(Qt::Key_0 + number));
        addAction(action);
        connect(action, &QAction::triggered, this, [this, number] { column_->choose(number); });
    }
    add(u"next"_s, tr("Next step"), QKeySequence(Qt::CTRL | Qt::Key_PageDown),
        [this] { column_->showStep(column_->shownStep() + 1); });
    add(u"previous"_s, tr("Previous step"), QKeySequence(Qt::CTRL | Qt::Key_PageUp),
        [this] { column_->showStep(column_->shownStep() - 1); });
    add(u"edit"_s, tr("Edit"), QKeySequence(Qt::Key_E), [this] { edit(); });
    add(u"present"_s, tr("Present"), QKeySequence(Qt::Key_F5), [this] { present(); });
    add(u"worksheet"_s, tr("Worksheet…"), QKeySequence(Qt::CTRL | Qt::Key_P),
        [this] { saveWorksheet(); });
}

QWidget* LessonView::makeTools(QWidget* parent) {
    auto* tools = new QWidget(parent);
    auto* row = makeRow(tools, {}, size::gap);
    file_ = withName(makeLabel({}, nullptr, tools), u"chip"_s);
    row->addWidget(file_);
    edit_ = makeLink(tr("Edit"), tools);
    connect(edit_, &QToolButton::clicked, this, &LessonView::edit);
    row->addWidget(edit_);
    changed_ = makeLabel(tr("The file was changed."), "caution", tools);
    row->addWidget(changed_);
    const auto button = [&](const QString& text, const QString& tip, auto slot) {
        auto* made = new QPushButton(text, tools);
        made->setToolTip(tip);
        connect(made, &QPushButton::clicked, this, slot);
        row->addWidget(made);
        return made;
    };
    reload_ = button(tr("Reload"), tr("Reads the lesson again; your answers stay"),
                     [this] { model_->reload(); });
    row->addStretch(1);
    keep_ = button(tr("Keep"),
                   tr("Puts the lesson's runs into the history; otherwise they are "
                      "discarded"),
                   [this] { keepRuns(); });
    button(tr("Worksheet…"), tr("The lesson as a PDF with blanks to fill in (Ctrl+P)"),
           [this] { saveWorksheet(); });
    auto* answers = button(tr("Answers"), tr("Hands in your answers, or collects those of a class"),
                           [] {});
    auto* menu = new QMenu(answers);
    connect(menu->addAction(tr("Hand in…")), &QAction::triggered, this,
            [this] { (new HandInDialog(model_, this))->open(); });
    connect(menu->addAction(tr("Collect from a folder…")), &QAction::triggered, this,
            &LessonView::collectAnswers);
    answers->setMenu(menu);
    button(tr("Reset"), tr("Clears your answers in this lesson, and its runs"),
           [this] { model_->reset(); });
    button(tr("Open in Training"),
           tr("The settings of the selected run, to train and change there"),
           [this] { openInTraining(); });
    button(tr("Present"), tr("One step at a time in large type, for a projector (F5)"),
           [this] { present(); });
    changed_->hide();
    reload_->hide();
    refreshTools();
    return tools;
}

void LessonView::refreshList() { list_->setEntries(model_->entries(), model_->name()); }

void LessonView::refreshTools() {
    if (file_ == nullptr) return;
    const QString file = model_->shelf()->fileOf(model_->name());
    file_->setVisible(model_->lesson() != nullptr);
    file_->setText(file.isEmpty() ? model_->name() + u".lesson.md"_s : QFileInfo(file).fileName());
    file_->setToolTip(file.isEmpty() ? tr("Included with Halftone") : file);
    keep_->setEnabled(model_->ended() && model_->runs()->worker() != nullptr);
}

void LessonView::showWhere(std::int64_t step) {
    model_->runs()->link()->select(step);
    for (int i = 0; i < column_->steps(); ++i) {
        const auto& parts = model_->lesson()->steps[static_cast<std::size_t>(i)].parts;
        for (const auto& part : parts) {
            if (std::holds_alternative<std::vector<engine::LessonPlot>>(part))
                return column_->showStep(i);
        }
    }
}

void LessonView::openFile() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open a lesson"), {}, tr("Lessons (*.lesson.md *.zip);;All files (*)"));
    if (!file.isEmpty()) model_->openPath(file);
}

void LessonView::openInTraining() {
    const auto lesson = model_->lesson();
    if (!lesson || lesson->runs.empty()) return;
    std::size_t index = 0;
    const auto tracks = model_->runs()->tracks();
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        if (tracks[i] == model_->runs()->link()->run()) index = i;
    }
    std::vector<std::string> knobs;
    for (const auto& [path, value] : model_->runs()->knobs())
        knobs.push_back((path + u'=' + value).toStdString());
    const auto parsed =
        engine::lesson_settings(*lesson, lesson->runs[index], model_->runs()->seed(), knobs);
    context_.commands->showPage(u"training"_s);
    context_.commands->editSettings(parsed.config);
}

void LessonView::edit() {
    QString file = model_->shelf()->fileOf(model_->name());
    if (file.isEmpty()) {
        // A built-in lesson is edited as a copy, which is then opened in its place.
        const auto lesson = model_->lesson();
        if (!lesson) return;
        const auto named = askForFile(this, tr("Save a copy to edit"), model_->name(),
                                      {{tr("Lessons (*.lesson.md)"), u"lesson.md"_s}});
        if (!named) return;
        file = named->file;
        return context_.commands->works()->write(
            file, writerOf(file, QByteArray::fromStdString(lesson->source)),
            [this, file] {
                model_->openPath(file);
                openInEditor(file);
            },
            this);
    }
    openInEditor(file);
}

void LessonView::openInEditor(const QString& file) {
    if (QDesktopServices::openUrl(QUrl::fromLocalFile(file))) return;
    context_.commands->report(
        {tr("No program is set up to open %1.").arg(file),
         tr("Open it in any text editor. Once it is saved, the Lab offers to reload it."),
         engine::ErrorCode::state, true});
}

void LessonView::collectAnswers() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of the class"));
    if (folder.isEmpty()) return;
    try {
        (new ClassDialog(folder, *model_->shelf(), this))->open();
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void LessonView::keepRuns() {
    keep_->setEnabled(false);
    ui::keepRuns(context_, model_);
}

void LessonView::saveWorksheet() {
    const auto lesson = model_->lesson();
    if (!lesson) return;
    const auto named = askForFile(this, tr("Save worksheet"), model_->name(),
                                  {{tr("PDF (*.pdf)"), u"pdf"_s}});
    if (!named) return;
    context_.commands->works()->write(named->file, [lesson, file = named->file] {
        writerOf(file, worksheetPdf(*lesson))();
    });
}

void LessonView::present() {
    if (present_ || !model_->lesson()) return;
    present_ = new PresentWindow(context_, model_, column_->shownStep(), this);
    // The size too: not every window manager obeys at once.
    present_->setGeometry(screen()->geometry());
    present_->showFullScreen();
    present_->activateWindow();
    present_->setFocus();
}

}  // namespace ui
