#include "commands/detached_runs.h"

#include <QDir>
#include <QProcess>
#include <QStringList>

#include "engine/runs/run_group.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

bool startResumed(const QString& program, const engine::RunStore& store, const QString& what) {
    QProcess process;
    process.setProgram(program);
    process.setArguments({u"resume"_s, what});
    process.setWorkingDirectory(QDir::homePath());
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(QProcess::nullDevice());
    process.setStandardErrorFile(
        QString::fromStdString((store.root() / "train-on.log").string()), QIODevice::Append);
    return process.startDetached();
}

}  // namespace

bool trainOn(const QString& program, const engine::RunStore& store,
             const std::vector<std::string>& runs) {
    std::vector<engine::RunSummary> stopped;
    for (const std::string& run : runs) {
        auto found = store.find(run);
        if (found && found->state == "stopped") stopped.push_back(std::move(*found));
    }
    // The command line finds a comparison in its own history alone.
    const bool together = stopped.size() > 1 && !engine::common_group(stopped).empty() &&
                          store.root() == engine::RunStore::default_root();
    if (together)
        return startResumed(
            program, store,
            QString::fromStdString(engine::group_name(stopped.front().group_number)));
    bool all = true;
    for (const engine::RunSummary& run : stopped)
        all = startResumed(program, store, QString::fromStdString(run.folder.string())) && all;
    return all;
}

}  // namespace ui
