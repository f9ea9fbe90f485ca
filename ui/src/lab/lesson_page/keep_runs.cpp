#include "lab/lesson_page/keep_runs.h"

#include <QTemporaryDir>
#include <filesystem>

#include "commands/commands.h"
#include "engine/runs/export.h"
#include "engine/runs/run_store.h"
#include "feed/event_feed.h"
#include "lab/lessons/lesson_model.h"
#include "text/format.h"
#include "view/context.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

void copyRuns(const std::vector<std::filesystem::path>& folders, engine::RunStore& store) {
    const QTemporaryDir between;
    for (const auto& folder : folders) {
        const auto file = std::filesystem::path(between.path().toStdString()) / "run.halftone";
        engine::export_run_file(folder, file);
        store.import_run(file);
    }
}

}  // namespace

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

}  // namespace ui
