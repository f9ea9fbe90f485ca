#include "window/main_menu.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMenuBar>

#include "commands/commands.h"
#include "commands/run_actor.h"
#include "engine/data/dataset_preview.h"
#include "engine/io/named_file.h"
#include "engine/lab/lesson_files.h"
#include "engine/runs/run_store.h"
#include "engine/settings/command_line.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "help/about_dialog.h"
#include "help/help_topics.h"
#include "help/help_window.h"
#include "help/op_window.h"
#include "models/settings_model.h"
#include "pages/registry.h"
#include "panels/history/history_panel.h"
#include "panels/history/run_export.h"
#include "panels/plots/plot_menu.h"
#include "panels/plots/plot_panels.h"
#include "panels/settings/rate_finder.h"
#include "panels/settings/settings_panel.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"
#include "window/keys_dialog.h"
#include "window/preset_menu.h"
#include "window/problem_dialog.h"

namespace ui {

namespace {

constexpr std::size_t mostProblems = 100;

}  // namespace

MainMenu::MainMenu(const Context& context, const PanelSet& panels, QMainWindow* window)
    : QObject(window), context_(context), panels_(panels), window_(window) {
    auto* name = makeTitle(u"Halftone"_s);
    name->setContentsMargins(size::inside, 0, size::gap, 0);
    window_->menuBar()->setCornerWidget(name, Qt::TopLeftCorner);
    declarePageKeys();
    addFile();
    addEdit();
    addRun();
    addView();
    addHelp();
    connect(context_.commands, &Commands::buttonsChanged, this, &MainMenu::refreshRun);
    connect(context_.commands, &Commands::failed, this, [this](const Problem& problem) {
        const QString time = QDateTime::currentDateTime().toString(Qt::ISODate);
        problems_.push_back((time + u' ' + joined({problem.sentence, problem.hint})).toStdString());
        if (problems_.size() > mostProblems) problems_.pop_front();
    });
    refreshRun();
}

MainMenu::~MainMenu() { delete help_.data(); }

HelpWindow* MainMenu::help() const { return help_ && help_->isVisible() ? help_.data() : nullptr; }

QAction* MainMenu::addCommand(QMenu* menu, const QString& text, const QString& id,
                              const QList<QKeySequence>& keys, const std::function<void()>& act) {
    auto* action = menu->addAction(text);
    KeyBindings::instance()->bind(action, id, keys);
    connect(action, &QAction::triggered, this, act);
    return action;
}

void MainMenu::addFile() {
    auto* menu = window_->menuBar()->addMenu(tr("&File"));
    const auto add = [&](const QString& text, const QString& id, const QKeySequence& key,
                         auto slot) { addCommand(menu, text, u"file/"_s + id, {key}, slot); };
    add(tr("Open settings…"), u"open"_s, QKeySequence::Open, [this] { openSettings(); });
    add(tr("Save settings…"), u"save"_s, QKeySequence::Save, [this] { saveSettings(); });
    menu->addMenu(new PresetMenu(context_, window_));
    add(tr("Default comparison"), u"default"_s, {},
        [this] { context_.settings->load(windowDefaults(), defaultComparison()); });
    menu->addSeparator();
    add(tr("Open data set…"), u"data"_s, {},
        [this] { panels_.bodies<SettingsPanel>().front()->chooseDataPath(); });
    add(tr("Watch a run folder…"), u"watch"_s, {}, [this] { watchRunFolder(); });
    add(tr("Export steps as CSV…"), u"csv"_s, {}, [this] { exportRuns(); });
    add(tr("Import run…"), u"import"_s, {}, [this] {
        importRun(window_, context_.commands, context_.feed->store(), [this] {
            for (auto* history : panels_.bodies<HistoryPanel>()) history->reload();
        });
    });
    menu->addSeparator();
    add(tr("Quit"), u"quit"_s, QKeySequence::Quit, [this] { window_->close(); });
}

void MainMenu::addEdit() {
    auto* menu = window_->menuBar()->addMenu(tr("&Edit"));
    SettingsModel* settings = context_.settings;
    undo_ = addCommand(menu, tr("Undo change of settings"), u"edit/undo"_s, {QKeySequence::Undo},
                       [settings] { settings->undo(); });
    undo_->setObjectName(u"undoSettings"_s);
    redo_ = addCommand(
        menu, tr("Redo change of settings"), u"edit/redo"_s,
        {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
        [settings] { settings->redo(); });
    redo_->setObjectName(u"redoSettings"_s);
    connect(settings, &SettingsModel::changed, this, &MainMenu::refreshEdit);
    refreshEdit();
}

void MainMenu::refreshEdit() {
    const auto nameChange = [](QAction* action, const QString& bare, const QString& named,
                               const std::optional<QString>& what) {
        action->setEnabled(what.has_value());
        action->setText(what && !what->isEmpty() ? named.arg(*what) : bare);
    };
    nameChange(undo_, tr("Undo change of settings"), tr("Undo: %1"), context_.settings->undoable());
    nameChange(redo_, tr("Redo change of settings"), tr("Redo: %1"), context_.settings->redoable());
}

void MainMenu::addRun() {
    auto* menu = window_->menuBar()->addMenu(tr("&Run"));
    const auto add = [&](const QString& text, const QString& id, const QKeySequence& key,
                         auto slot) { return addCommand(menu, text, u"run/"_s + id, {key}, slot); };
    Commands* commands = context_.commands;
    compare_ = addCommand(
        menu, tr("Compare"), u"run/compare"_s,
        {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)},
        [commands] { commands->compare(); });
    start_ = add(tr("Start"), u"start"_s, QKeySequence(Qt::CTRL | Qt::Key_R),
                 [commands] { commands->start(); });
    pause_ = add(tr("Pause"), u"pause"_s, QKeySequence(Qt::Key_Space),
                 [commands] { commands->togglePause(); });
    step_ = add(tr("Step"), u"step"_s, QKeySequence(Qt::Key_S), [commands] { commands->step(); });
    stop_ = add(tr("Stop"), u"stop"_s, QKeySequence(Qt::CTRL | Qt::Key_Period),
                [commands] { commands->stop(); });
    evaluate_ = add(tr("Evaluate the test set now"), u"evaluate"_s, QKeySequence(Qt::Key_E),
                    [commands] { commands->validate(); });
    checkpoint_ = add(tr("Save a checkpoint now"), u"checkpoint"_s, QKeySequence(Qt::Key_C),
                      [commands] { commands->saveCheckpoint(); });
    menu->addSeparator();
    findRate_ = add(tr("Find the learning rate…"), u"rate"_s, {},
                    [this] { (new RateFinder(context_, window_))->open(); });
    findRate_->setObjectName(u"findRate"_s);
    copyLine_ = add(tr("Copy as command line"), u"command-line"_s,
                    QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), [this] { copyCommandLine(); });
    copyLine_->setObjectName(u"copyCommandLine"_s);
    draft_ = add(tr("New lesson from this run…"), u"lesson"_s, {}, [this] { draftLesson(); });
    menu->addSeparator();
    add(tr("Rebuild the run history"), u"rebuild"_s, {}, [this] {
        try {
            if (context_.feed->store()) context_.feed->store()->rebuild();
            for (auto* history : panels_.bodies<HistoryPanel>()) history->reload();
        } catch (const engine::Error& error) {
            context_.commands->report(error);
        }
    });
}

void MainMenu::addView() {
    auto* menu = window_->menuBar()->addMenu(tr("&View"));
    auto* keys = KeyBindings::instance();
    auto* log = menu->addAction(tr("Logarithmic loss axis on or off"));
    keys->bind(log, u"view/log"_s, {QKeySequence(Qt::CTRL | Qt::Key_L)});
    for (auto* plot : panels_.bodies<PlotPanel>())
        connect(log, &QAction::triggered, plot, &PlotPanel::toggleLog);
    auto* fit = menu->addAction(tr("Reset zoom"));
    keys->bind(fit, u"view/fit"_s, {QKeySequence(Qt::Key_F)});
    connect(fit, &QAction::triggered, context_.link, &PlotLink::fit);
    addXAxisMenu(menu, context_.link->options());
    addSmoothingSteps(menu, context_.link->options());
    menu->addSeparator();
    auto* shown = menu->addMenu(tr("Panels"));
    for (const auto* panel : panels_.all()) shown->addAction(panel->toggleViewAction());
    connect(menu->addAction(tr("Reset layout")), &QAction::triggered, this, &MainMenu::resetLayout);
    menu->addSeparator();
    addTheme(menu);
    addLanguage(menu);
}

void MainMenu::addTheme(QMenu* view) {
    auto* menu = view->addMenu(tr("Theme"));
    auto* group = new QActionGroup(menu);
    const std::pair<QString, Theme::Choice> choices[] = {{tr("System"), Theme::Choice::system},
                                                         {tr("Light"), Theme::Choice::light},
                                                         {tr("Dark"), Theme::Choice::dark}};
    for (const auto& [name, choice] : choices) {
        auto* action = group->addAction(name);
        action->setCheckable(true);
        action->setChecked(context_.theme->choice() == choice);
        connect(action, &QAction::triggered, context_.theme,
                [theme = context_.theme, choice = choice] { theme->setChoice(choice); });
        menu->addAction(action);
    }
}

void MainMenu::addLanguage(QMenu* view) {
    auto* menu = view->addMenu(tr("Language"));
    auto* group = new QActionGroup(menu);
    std::vector<Language::Known> choices = Language::known();
    choices.insert(choices.begin(), {QString(), tr("System")});
    for (const auto& [choice, name] : choices) {
        auto* action = group->addAction(name);
        action->setCheckable(true);
        action->setChecked(context_.language->choice() == choice);
        // Queued, because the change recreates the window and this menu with it.
        connect(
            action, &QAction::triggered, context_.language,
            [language = context_.language, choice = choice] { language->setChoice(choice); },
            Qt::QueuedConnection);
        menu->addAction(action);
    }
}

void MainMenu::addHelp() {
    auto* menu = window_->menuBar()->addMenu(tr("&Help"));
    menu->setToolTipsVisible(true);
    demonstrate_ = menu->addAction(tr("Why scale the loss?"));
    connect(demonstrate_, &QAction::triggered, context_.commands, &Commands::demonstrate);
    menu->addSeparator();
    auto* help = menu->addAction(tr("Help…"));
    KeyBindings::instance()->bind(help, u"help/help"_s, {QKeySequence(QKeySequence::HelpContents)});
    connect(help, &QAction::triggered, this, [this] { showHelpWindow(focusedSetting()); });
    connect(menu->addAction(tr("Keyboard shortcuts")), &QAction::triggered, this,
            [this] { showHelpWindow(shortcutsTopic()); });
    connect(menu->addAction(tr("Change keyboard shortcuts…")), &QAction::triggered, window_,
            [this] { (new KeysDialog(window_))->open(); });
    connect(menu->addAction(tr("Write a lesson")), &QAction::triggered, this,
            [this] { showHelpWindow(lessonWritingTopic()); });
    connect(menu->addAction(tr("What has changed")), &QAction::triggered, this,
            [this] { showHelpWindow(changesTopic()); });
    connect(menu->addAction(tr("Autocast op rules…")), &QAction::triggered, window_,
            [this] { showOperations(window_); });
    connect(menu->addAction(tr("Report a problem…")), &QAction::triggered, this,
            &MainMenu::reportProblem);
    connect(menu->addAction(tr("About Halftone")), &QAction::triggered, window_,
            [this] { (new AboutDialog(window_))->show(); });
}

/// About the selected run, or, without one, the settings on the left.
void MainMenu::reportProblem() {
    engine::ProblemFacts facts;
    const auto track = selectedTrack(context_);
    const auto& store = context_.feed->store();
    const auto run = track && store ? store->find(track->run()) : std::nullopt;
    if (run)
        facts.run_folder = run->folder;
    else
        facts.settings = context_.settings->config();
    facts.log.assign(problems_.begin(), problems_.end());
    facts.toolkit = "Qt " + std::string(qVersion()) + ", " +
                    QGuiApplication::platformName().toStdString();
    (new ProblemDialog(std::move(facts), context_.commands, window_))->show();
}

void MainMenu::refreshRun() {
    const ButtonStates now = context_.commands->buttons();
    compare_->setEnabled(now.compare.enabled);
    start_->setEnabled(now.start.enabled);
    pause_->setText(now.pauseResumes ? tr("Resume") : tr("Pause"));
    pause_->setEnabled(now.pause.enabled);
    step_->setEnabled(now.step.enabled);
    stop_->setEnabled(now.stop.enabled);
    // A page's own runs have neither; a disabled action leaves its key to the page.
    const bool experiment = context_.commands->actor() == nullptr;
    compare_->setText(experiment ? tr("Compare") : context_.commands->actor()->startText());
    evaluate_->setEnabled(experiment && now.pause.enabled);
    checkpoint_->setEnabled(experiment && now.pause.enabled);
    draft_->setEnabled(experiment && selectedTrack(context_) != nullptr);
    copyLine_->setEnabled(context_.settings->errors().empty());
    findRate_->setEnabled(now.start.enabled);
    demonstrate_->setEnabled(now.demonstrate.enabled);
    demonstrate_->setToolTip(
        now.demonstrate.enabled
            ? tr("Trains a network in FP32, in FP16 and in FP16 without loss scaling.")
            : now.demonstrate.why);
}

void MainMenu::openSettings() {
    const QString file = QFileDialog::getOpenFileName(window_, tr("Open settings"), {},
                                                      tr("Settings (*.json);;All files (*)"));
    if (!file.isEmpty()) openFile(file);
}

/// Like a file that was dropped: its content decides. One in JSON that is nothing Halftone knows
/// gets the reason why it is no settings file.
void MainMenu::openFile(const QString& file) {
    const bool json = QFileInfo(file).suffix().compare(u"json"_s, Qt::CaseInsensitive) == 0;
    if (!json || !engine::recognise_path(file.toStdString()).empty())
        return context_.commands->openPath(file);
    try {
        context_.settings->loadFile(file);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void MainMenu::saveSettings() {
    const auto named = askForFile(window_, tr("Save settings"), u"settings"_s,
                                  {{tr("Settings (*.json)"), u"json"_s}});
    if (!named) return;
    try {
        context_.settings->saveFile(named->file);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void MainMenu::watchRunFolder() {
    const QString folder = QFileDialog::getExistingDirectory(
        window_, tr("Folder of a run that another program writes"));
    if (!folder.isEmpty()) context_.commands->watchFolder(folder);
}

void MainMenu::exportRuns() {
    std::vector<engine::RunSummary> runs;
    try {
        for (const auto& track : context_.feed->tracks()) {
            const auto& store = context_.feed->store();
            const auto summary = store ? store->find(track->run()) : std::nullopt;
            if (summary) runs.push_back(*summary);
        }
    } catch (const engine::Error& error) {
        context_.commands->report(error);
        return;
    }
    if (runs.empty()) {
        context_.commands->report({tr("There is no run to export yet."),
                                   tr("Start one, or select one under Runs."),
                                   engine::ErrorCode::io, true});
        return;
    }
    exportCsv(window_, context_.commands, runs);
}

void MainMenu::copyCommandLine() {
    const std::string line = engine::to_command_line(context_.settings->config());
    QGuiApplication::clipboard()->setText(QString::fromStdString(line));
    context_.commands->report({tr("The command line is in the clipboard."),
                               tr("It starts the same run in a terminal."),
                               engine::ErrorCode::settings, true});
}

void MainMenu::draftLesson() {
    const auto track = selectedTrack(context_);
    const auto& store = context_.feed->store();
    if (!track || !store) return;
    try {
        const auto run = store->find(track->run());
        if (!run) return;
        const auto named = askForFile(window_, tr("Save the draft of a lesson"), u"my-lesson"_s,
                                      {{tr("Lessons (*.lesson.md)"), u"lesson.md"_s}});
        if (!named) return;
        const std::int64_t selected = context_.link->selected();
        context_.commands->works()->write(
            named->file,
            [run = *run, file = named->file.toStdString(),
             step = selected > 0 ? selected : track->rows(),
             title = tr("My lesson: %1").arg(trackTitle(*track)).toStdString()] {
                engine::write_named_file(file, engine::draft_lesson(run, step, title));
            },
            [commands = context_.commands, file = named->file] { commands->openPath(file); },
            context_.commands);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

QString MainMenu::focusedSetting() const {
    for (auto* widget = QApplication::focusWidget(); widget != nullptr;
         widget = widget->parentWidget()) {
        if (const auto* field = qobject_cast<SettingsField*>(widget)) return field->path();
    }
    return {};
}

void MainMenu::showHelpWindow(const QString& topic) {
    if (!help_)
        help_ = new HelpWindow(context_.theme, *context_.settings,
                               contentLanguage(*context_.language), window_);
    help_->open(topic);
}

}  // namespace ui
