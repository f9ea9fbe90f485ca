#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <utility>

namespace ui {

class Commands;
class EventFeed;
class SettingsModel;

/// Opens files and folders that were dropped, chosen or named on the command line; their content
/// decides what they are. What cannot be opened is reported through the commands. GUI thread.
class PathOpener final : public QObject {
    Q_OBJECT
public:
    /// Belongs to the commands.
    PathOpener(Commands* commands, EventFeed* feed, SettingsModel* settings);

    void open(const QString& path);
    /// Runs among them are shown over one another.
    void openAll(const QStringList& paths);
    /// A path that was chosen as data.
    void openData(const QString& path);
    /// Throws engine::Error.
    void openRun(const QString& folder);
    /// Follows the run that another program writes in this folder, as soon as there is one.
    void watch(const QString& folder);

    /// The last path for the Lab, once; empty: none.
    QString takeLessons() { return std::exchange(lessons_, {}); }
    bool hasLessons() const { return !lessons_.isEmpty(); }
    /// The last file of a network, once; empty: none.
    QString takeNetwork() { return std::exchange(network_, {}); }

private:
    void lookForRun();

    Commands* commands_;
    EventFeed* feed_;
    SettingsModel* settings_;
    QString lessons_;  ///< lesson, folder or archive that the Lab is to open; empty: none
    QString awaited_;  ///< folder in which a run is to begin; empty: none is waited for
    QString network_;  ///< file that the page Network is to open; empty: none
    QTimer await_;
};

}  // namespace ui
