#include "commands/path_opener.h"

#include <QFileInfo>

#include "commands/commands.h"
#include "engine/data/dataset_preview.h"
#include "engine/lab/lesson_files.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "models/settings_model.h"

namespace ui {
namespace {

constexpr int awaitEvery = 500;  // ms

}  // namespace

PathOpener::PathOpener(Commands* commands, EventFeed* feed, SettingsModel* settings)
    : QObject(commands), commands_(commands), feed_(feed), settings_(settings) {
    await_.setInterval(awaitEvery);
    connect(&await_, &QTimer::timeout, this, &PathOpener::lookForRun);
}

void PathOpener::open(const QString& path) {
    if (QFileInfo(path).suffix().compare(u"halftone"_s, Qt::CaseInsensitive) == 0)
        return emit commands_->runFileOpened(path);
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == u"network"_s || ending == u"onnx"_s) {
        network_ = path;
        commands_->showPage(u"network"_s);  // makes the page where there is none yet
        return emit commands_->networkOpened();
    }
    if (engine::is_lesson_path(path.toStdString())) {
        lessons_ = path;
        commands_->showPage(u"lab"_s);  // makes the page where there is none yet
        return emit commands_->lessonsOpened();
    }
    try {
        const std::string kind = engine::recognise_path(path.toStdString());
        if (kind == "settings") {
            settings_->loadFile(path);
        } else if (kind == "log") {
            emit commands_->runFileOpened(path);
        } else if (kind == "run") {
            openRun(path);
            commands_->showPage(u"training"_s);  // a lesson, say, would hide it
        } else if (!kind.empty()) {
            settings_->set(u"dataset.path"_s, path);
            settings_->set(u"dataset.kind"_s, QString::fromStdString(kind));
        } else {
            commands_->report(Problem{
                tr("Halftone cannot open this file: %1.").arg(path),
                tr("Open a data set (MNIST, Fashion-MNIST, CIFAR-10, CIFAR-100), a table in CSV, a "
                   "text, a settings file in JSON, the folder of a run, a run that was exported "
                   "(.halftone), a network (.network or .onnx), or event files of TensorBoard."),
                engine::ErrorCode::data, true});
        }
    } catch (const engine::Error& error) {
        commands_->report(error);
    }
}

void PathOpener::openAll(const QStringList& paths) {
    QStringList runs;
    for (const QString& path : paths) {
        if (engine::recognise_path(path.toStdString()) == "run")
            runs << path;
        else
            open(path);
    }
    if (runs.size() == 1) return open(runs.front());
    if (runs.isEmpty()) return;
    try {
        await_.stop();
        for (const QString& run : runs) {
            if (feed_->store()) feed_->store()->enter(run.toStdString());
        }
        emit commands_->runsOpened(runs);
        commands_->showPage(u"training"_s);
    } catch (const engine::Error& error) {
        commands_->report(error);
    }
}

void PathOpener::openData(const QString& path) {
    const auto* chosen = engine::find_dataset(settings_->config().dataset.kind);
    const bool needed = chosen != nullptr && !chosen->needs.empty();
    if (needed && engine::recognise_path(path.toStdString()).empty())
        settings_->set(u"dataset.path"_s, path);
    else
        open(path);
}

/// Enters a folder outside the history too: the run of another program is most often there.
void PathOpener::openRun(const QString& folder) {
    await_.stop();
    if (feed_->store()) feed_->store()->enter(folder.toStdString());
    emit commands_->runOpened(folder);
}

void PathOpener::watch(const QString& folder) {
    awaited_ = folder;
    lookForRun();
    if (await_.isActive()) {
        commands_->report(Problem{tr("There is no run in %1 yet.").arg(folder),
                                  tr("It opens here as soon as a program begins to write one."),
                                  engine::ErrorCode::data, true});
    }
}

void PathOpener::lookForRun() {
    try {
        if (engine::recognise_path(awaited_.toStdString()) == "run") {
            openRun(awaited_);
        } else {
            await_.start();
        }
    } catch (const engine::Error& error) {
        await_.stop();
        commands_->report(error);
    }
}

}  // namespace ui
