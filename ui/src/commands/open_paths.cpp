// Opens files and folders that were dropped, chosen or named on the command line.
#include <QFileInfo>

#include "commands/commands.h"
#include "engine/data/dataset_preview.h"
#include "engine/lab/lesson_files.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "models/settings_model.h"

namespace ui {

using namespace Qt::StringLiterals;

void Commands::openPath(const QString& path) {
    if (QFileInfo(path).suffix().compare(u"halftone"_s, Qt::CaseInsensitive) == 0)
        return emit runFileOpened(path);
    if (engine::is_lesson_path(path.toStdString())) {
        lessons_ = path;
        showPage(u"lab"_s);  // makes the page where there is none yet
        return emit lessonsOpened();
    }
    try {
        const std::string kind = engine::recognise_path(path.toStdString());
        if (kind == "settings") {
            settings_->loadFile(path);
        } else if (kind == "run") {
            openRun(path);
            showPage(u"training"_s);  // a lesson, say, would hide it
        } else if (!kind.empty()) {
            settings_->set(u"dataset.path"_s, path);
            settings_->set(u"dataset.kind"_s, QString::fromStdString(kind));
        } else {
            emit failed({tr("Halftone cannot open this file: %1.").arg(path),
                         tr("Open a data set (MNIST, Fashion-MNIST, CIFAR-10, CIFAR-100), a table "
                            "in CSV, a "
                            "text, a settings file in JSON, the folder of a run, or a run that was "
                            "exported (.halftone)."),
                         engine::ErrorCode::data, true});
        }
    } catch (const engine::Error& error) {
        report(error);
    }
}

void Commands::openPaths(const QStringList& paths) {
    QStringList runs;
    for (const QString& path : paths) {
        if (engine::recognise_path(path.toStdString()) == "run")
            runs << path;
        else
            openPath(path);
    }
    if (runs.size() == 1) return openPath(runs.front());
    if (runs.isEmpty()) return;
    try {
        await_.stop();
        for (const QString& run : runs) {
            if (feed_->store()) feed_->store()->enter(run.toStdString());
        }
        emit runsOpened(runs);
        showPage(u"training"_s);
    } catch (const engine::Error& error) {
        report(error);
    }
}

void Commands::openData(const QString& path) {
    const auto* chosen = engine::find_dataset(settings_->config().dataset.kind);
    const bool needed = chosen != nullptr && !chosen->needs.empty();
    if (needed && engine::recognise_path(path.toStdString()).empty())
        settings_->set(u"dataset.path"_s, path);
    else
        openPath(path);
}

void Commands::editSettings(const engine::RunConfig& config) {
    settings_->load(config);
    emit settingsWanted();
}

/// Enters a folder outside the history too: the run of another program is most often there.
void Commands::openRun(const QString& folder) {
    await_.stop();
    if (feed_->store()) feed_->store()->enter(folder.toStdString());
    emit runOpened(folder);
}

void Commands::watchFolder(const QString& folder) {
    awaited_ = folder;
    lookForRun();
    if (await_.isActive()) {
        emit failed({tr("There is no run in %1 yet.").arg(folder),
                     tr("It opens here as soon as a program begins to write one."),
                     engine::ErrorCode::data, true});
    }
}

void Commands::lookForRun() {
    try {
        if (engine::recognise_path(awaited_.toStdString()) == "run") {
            openRun(awaited_);
        } else {
            await_.start();
        }
    } catch (const engine::Error& error) {
        await_.stop();
        report(error);
    }
}

}  // namespace ui
