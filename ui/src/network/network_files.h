#pragma once

#include <QFileSystemWatcher>
#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>

#include "engine/base/options.h"
#include "view/context.h"

namespace ui {

class NetworkModel;

/// Where the text of a network comes from and goes to: a template, a file, or nothing yet. A text
/// with changes that are not saved is kept as a draft, which survives the end of the program. A file
/// that another program changes is noticed. GUI thread.
class NetworkFiles final : public QObject {
    Q_OBJECT
public:
    /// Belongs to the model. Takes up the draft of the last start, if there is one.
    NetworkFiles(const Context& context, NetworkModel* model);

    static QString draftFile();
    /// The largest text that is read; a network may have 256 KiB.
    static constexpr qint64 longest = 1 << 20;

    /// The name of the file or template, or of the copy: "resnet18.network".
    QString name() const { return name_; }
    /// Empty: the text has no file.
    QString file() const { return file_; }
    bool isEdited() const;
    /// The file has changed since it was read or written here.
    bool isChangedOnDisk() const { return changedOnDisk_; }

    static bool isTemplate(const QString& name);
    /// Shows a text that comes with settings, and was read from this file or none. If the file has
    /// another text now, the shown one is edited, and the file has changed.
    void showText(const QString& text, const QString& name, const QString& file);
    /// Shows a template, which can be read; edit() begins a copy.
    void showTemplate(const QString& name);
    /// Shows the text of an imported model, to read, like a template.
    void showImported(const QString& text, const QString& name);
    void edit();
    /// Shows the text of a run, with its options, to read. back() shows what was there before, edit()
    /// begins a copy.
    void showRun(const QString& text, const engine::Options& options, const QString& run);
    bool isRun() const { return behind_.has_value(); }
    void back();
    /// False, with the reason reported, if it cannot be read.
    bool open(const QString& file);
    /// Writes the text into its file, or another one, and then does `then`. Does not write over what
    /// another program has put into its file, before keepMine().
    void save(const QString& file, const std::function<void()>& then = {});
    /// Replaces the text by that of the file, as one change.
    void reload();
    /// The text stays; the next save() replaces the file.
    void keepMine();

    /// Keeps a text with changes for takeDraft(): another one takes its place.
    void setAside();
    /// The name of the text that was set aside last; empty: there is none.
    QString asideName() const;
    /// Shows it, or forgets it.
    void takeDraft();
    void dropDraft();

signals:
    void changed();
    /// The text behind that of a run is on show again, with the options that it had.
    void returned();

private:
    void begin(const QString& text, const QString& name, const QString& file, bool readOnly);
    void follow(const QString& file);
    void lookAtFile();
    QJsonObject draft() const;
    void leaveRun();
    void keepDraft() const;
    void show(const QJsonObject& kept);

    Context context_;
    NetworkModel* model_;
    QFileSystemWatcher watcher_;
    QTimer draft_;
    QString name_, file_;
    QByteArray onDisk_;  ///< what the file had when it was read or written here
    std::optional<QByteArray> saving_;  ///< what save() wrote last, or is writing
    QList<QJsonObject> aside_;
    std::optional<QJsonObject> behind_;  ///< what a run's text stands before
    bool changedOnDisk_ = false;
};

}  // namespace ui
