#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/runs/disk_use.h"
#include "engine/runs/run_store.h"

namespace ui {

class Commands;
class EventFeed;

/// Shared by the lists that show it; never null, never changed.
using RunList = std::shared_ptr<const std::vector<engine::RunSummary>>;

/// The runs of the store, newest first, for every list of the window. Read off the GUI thread after
/// a change; unreadable runs are reported. While a list is watched, the figures of training runs
/// are refreshed four times a second, and runs of other programs are found. GUI thread.
class RunHistory final : public QObject {
    Q_OBJECT
public:
    RunHistory(EventFeed* feed, Commands* commands, QObject* parent = nullptr);

    const RunList& runs() const { return runs_; }
    /// Null if the list has no such run.
    const engine::RunSummary* find(const std::string& run) const;
    void reload();
    bool isReading() const { return reading_; }
    /// The list has been read at least once.
    bool isRead() const { return read_; }
    /// A list with the figures of running runs is on screen, or is no longer: each call for true is
    /// followed by one for false.
    void setWatched(bool watched);

    /// Each reports what goes wrong, and shows the change at once.
    void setTitle(const std::string& run, const QString& title);
    void setTitle(const std::vector<std::string>& runs, const QString& title);
    void setTags(const std::string& run, const QString& tags);
    void setNotes(const std::string& run, const QString& notes);
    void setStarred(const std::vector<std::string>& runs, bool starred);
    /// Moves the folders to the system's trash, off the GUI thread. Runs that are being trained
    /// stay, which is reported.
    void remove(const std::vector<std::string>& runs);
    /// Removes the checkpoints of these runs but the best and the last one of each, off the GUI
    /// thread, and says what that freed. Runs that are being trained keep all, which is reported.
    void freeCheckpoints(const std::vector<std::string>& runs);
    /// Brings an exported run into the store, off the GUI thread, and says under which number.
    void importFile(const QString& file);

signals:
    /// Other runs, or other texts of them.
    void changed();
    /// The figures of runs that train; the list has the same runs as before.
    void figuresChanged();

private:
    void join();
    /// Calls change(store, run) for each, and brings them up to date.
    template <typename F>
    void edit(const std::vector<std::string>& runs, F&& change);
    void look();
    void readFigures(const std::set<std::string>& running);

    EventFeed* feed_;
    Commands* commands_;
    RunList runs_ = std::make_shared<const std::vector<engine::RunSummary>>();
    QTimer timer_;
    int turns_ = 0;
    int watchers_ = 0;
    std::filesystem::file_time_type folderTime_{};  ///< of the root, when it was last read
    bool reading_ = false;
    bool read_ = false;
    bool again_ = false;
    bool readingFigures_ = false;
    static constexpr int sketchPoints = 48;
    /// Used by one reading at a time.
    std::shared_ptr<engine::FolderFigures> folders_ =
        std::make_shared<engine::FolderFigures>(sketchPoints);
    bool trained_ = false;  ///< when the state last changed
};

/// Moves a run's folder into the trash where the desktop has one; deletes it otherwise. Any thread.
/// Throws Error(io).
void discardRun(const std::filesystem::path& folder);

/// "Imported as run 3.", or as which comparison or sweep.
QString importedText(const engine::RunStore& store,
                     const std::vector<engine::RunStore::NewRun>& runs);

}  // namespace ui
