#include "commands/run_history.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "engine/base/error.h"
#include "engine/runs/run_group.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

constexpr int figuresEvery = 250;  // ms
constexpr int lookEvery = 4;       // turns of it: for runs of other programs

/// The runs and what was mended to list them.
using Listed = std::pair<RunList, std::vector<engine::Message>>;

Listed list(engine::RunStore& store, engine::FolderFigures& folders) {
    auto runs = std::make_shared<std::vector<engine::RunSummary>>(store.list());
    folders.fill(*runs);
    return {std::move(runs), store.take_warnings()};
}

/// The run with what a look into its folder found before.
engine::RunSummary withFolderFigures(engine::RunSummary run, const engine::RunSummary& before) {
    run.disk_bytes = before.disk_bytes;
    run.loss_sketch = before.loss_sketch;
    return run;
}

/// The list with the figures that these runs have now.
RunList withFigures(const engine::RunStore& store, const RunList& before,
                    const std::set<std::string>& running) {
    auto runs = std::make_shared<std::vector<engine::RunSummary>>(*before);
    for (auto& run : *runs) {
        if (!running.contains(run.run)) continue;
        if (auto found = store.find(run.run)) run = withFolderFigures(std::move(*found), run);
    }
    return runs;
}

std::filesystem::file_time_type timeOf(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::last_write_time(folder, ignored);
}

}  // namespace

RunHistory::RunHistory(EventFeed* feed, Commands* commands, QObject* parent)
    : QObject(parent), feed_(feed), commands_(commands) {
    timer_.setInterval(figuresEvery);
    connect(&timer_, &QTimer::timeout, this, &RunHistory::look);
    join();
    reload();
}

void RunHistory::join() {
    connect(feed_, &EventFeed::stateChanged, this, [this](engine::RunState state) {
        // Short epochs go from training to evaluating and back many times a second.
        const bool trains =
            state == engine::RunState::training || state == engine::RunState::evaluating;
        if (!(trains && trained_)) reload();
        trained_ = trains;
    });
    connect(commands_, &Commands::runFileOpened, this, &RunHistory::importFile);
    connect(feed_, &EventFeed::storeChanged, this, &RunHistory::reload);
    connect(feed_, &EventFeed::followedEnded, this, &RunHistory::reload);
    connect(feed_, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                if (std::holds_alternative<engine::RunDone>(event)) reload();
            });
}

const engine::RunSummary* RunHistory::find(const std::string& run) const {
    const auto at = std::ranges::find(*runs_, run, &engine::RunSummary::run);
    return at == runs_->end() ? nullptr : &*at;
}

void RunHistory::reload() {
    if (!feed_->store()) return;
    if (reading_) {
        again_ = true;
        return;
    }
    reading_ = true;
    folderTime_ = timeOf(feed_->store()->root());
    inBackground(
        this, [store = feed_->store(), folders = folders_] { return list(*store, *folders); },
        [this](const Outcome<Listed>& listed) {
            reading_ = false;
            if (listed.error) {
                commands_->report(*listed.error);
            } else {
                const auto& [runs, warnings] = *listed.result;
                runs_ = runs;
                read_ = true;
                emit changed();
                QStringList texts;
                for (const auto& warning : warnings) texts << sentence(engineText(warning));
                if (!texts.isEmpty())
                    commands_->report({joined(texts), {}, engine::ErrorCode::io, true});
            }
            if (std::exchange(again_, false)) reload();
        });
}

void RunHistory::setWatched(bool watched) {
    watchers_ += watched ? 1 : -1;
    if (watchers_ > 0)
        timer_.start();
    else
        timer_.stop();
}

void RunHistory::look() {
    if (!feed_->store() || reading_) return;
    if (++turns_ % lookEvery == 0 && timeOf(feed_->store()->root()) != folderTime_) return reload();
    std::set<std::string> running;
    for (const auto& run : *runs_) {
        if (run.state == "running") running.insert(run.run);
    }
    if (!running.empty() && !readingFigures_) readFigures(running);
}

void RunHistory::readFigures(const std::set<std::string>& running) {
    readingFigures_ = true;
    inBackground(
        this,
        [store = feed_->store(), before = runs_, running] {
            return withFigures(*store, before, running);
        },
        [this, before = runs_](const Outcome<RunList>& now) {
            readingFigures_ = false;
            // Edited or read anew meanwhile, or the figures cannot be read now.
            if (!now.result || before != runs_) return;
            runs_ = *now.result;
            emit figuresChanged();
        });
}

template <typename F>
void RunHistory::edit(const std::vector<std::string>& runs, F&& change) {
    if (!feed_->store()) return;
    auto list = std::make_shared<std::vector<engine::RunSummary>>(*runs_);
    try {
        for (const auto& run : runs) {
            change(*feed_->store(), run);
            auto found = feed_->store()->find(run);
            const auto at = std::ranges::find(*list, run, &engine::RunSummary::run);
            if (!found || at == list->end()) continue;
            *at = withFolderFigures(std::move(*found), *at);
        }
    } catch (const engine::Error& error) {
        commands_->report(error);
    }
    runs_ = std::move(list);
    if (reading_) again_ = true;  // it may have read the runs before they were changed
    emit changed();
}

void RunHistory::setTitle(const std::string& run, const QString& title) {
    setTitle(std::vector{run}, title);
}

void RunHistory::setTitle(const std::vector<std::string>& runs, const QString& title) {
    edit(runs, [&](engine::RunStore& store, const std::string& each) {
        store.set_title(each, title.toStdString());
    });
}

void RunHistory::setTags(const std::string& run, const QString& tags) {
    edit({run}, [&](engine::RunStore& store, const std::string& each) {
        store.set_tags(each, tags.toStdString());
    });
}

void RunHistory::setNotes(const std::string& run, const QString& notes) {
    edit({run}, [&](engine::RunStore& store, const std::string& each) {
        store.set_notes(each, notes.toStdString());
    });
}

void RunHistory::setStarred(const std::vector<std::string>& runs, bool starred) {
    edit(runs, [&](engine::RunStore& store, const std::string& each) {
        store.set_starred(each, starred);
    });
}

void RunHistory::remove(const std::vector<std::string>& runs) {
    if (!feed_->store()) return;
    inBackground(
        this,
        [store = feed_->store(), runs] {
            std::vector<engine::Error> errors;
            for (const auto& run : runs) {
                try {
                    store->remove(run, discardRun);
                } catch (const engine::Error& error) {
                    errors.push_back(error);
                }
            }
            return errors;
        },
        [this](const std::vector<engine::Error>& errors) {
            for (const auto& error : errors) commands_->report(error);
            reload();
        });
}

void RunHistory::freeCheckpoints(const std::vector<std::string>& runs) {
    std::vector<std::filesystem::path> folders;
    for (const auto& run : runs) {
        if (const auto* found = find(run)) folders.push_back(found->folder);
    }
    const auto work = [folders] {
        std::int64_t freed = 0;
        for (const auto& folder : folders) freed += engine::free_checkpoints(folder).bytes;
        return tr("%1 of checkpoints freed.").arg(bytes(freed));
    };
    commands_->works()->start({tr("Freeing checkpoints"), {}, work, [this] { reload(); }, this});
}

void RunHistory::importFile(const QString& file) {
    if (!feed_->store()) return;
    commands_->works()->start({tr("Importing %1").arg(QFileInfo(file).fileName()),
                               {},
                               [store = feed_->store(), file] {
                                   return importedText(*store,
                                                       store->import_runs(file.toStdString()));
                               },
                               [this] { reload(); },
                               this});
}

QString importedText(const engine::RunStore& store,
                     const std::vector<engine::RunStore::NewRun>& runs) {
    const QString first = QString::fromStdString(runs.front().run);
    if (runs.size() == 1) return RunHistory::tr("Imported as run %1.").arg(first);
    const auto found = store.find(runs.front().run);
    const QString last = QString::fromStdString(runs.back().run);
    if (!found || found->group_number == 0)
        return RunHistory::tr("Imported as runs %1 to %2.").arg(first, last);
    const QString number = count(found->group_number);
    return engine::is_sweep_group(found->group)
               ? RunHistory::tr("Imported as sweep %1, runs %2 to %3.").arg(number, first, last)
               : RunHistory::tr("Imported as comparison %1, runs %2 to %3.")
                     .arg(number, first, last);
}

void discardRun(const std::filesystem::path& folder) {
    // Without this folder Qt puts the trash into the current one.
    QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation));
    if (QFile::moveToTrash(QString::fromStdString(folder.string()))) return;
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (!error) return;
    throw engine::Error(engine::ErrorCode::io,
                        engine::msg("{}: cannot be deleted: {}", folder.string(), error.message()),
                        engine::msg("Check that you may write to this folder."));
}

}  // namespace ui
