#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "feed/background_task.h"
#include "text/format.h"
#include "text/language.h"
#include "text/named_output.h"

namespace ui {

/// Something that went wrong, for the bar across the centre.
struct Problem {
    QString sentence;
    QString hint;
    engine::ErrorCode code = engine::ErrorCode::settings;
    bool note = false;  ///< no fault: an answer to something the user did
    QString file = {};  ///< a file or folder that was written, which the bar offers to open
    bool lasts = false;  ///< stays on screen when training starts: it holds for the runs to come
    Failure failure = {};  ///< what sentence and hint say, in any language; empty: only they do
};

/// An export, an import or a report, off the GUI thread.
struct FileWork {
    QString title;  ///< shown while it runs, such as "Exporting run-3.onnx"
    QString file;   ///< the written file, which the message offers to open; empty: none
    /// Runs on another thread and returns the sentence to show at its end, or none if empty. May
    /// throw engine::Error. Must touch nothing of the window.
    std::function<QString()> work;
    /// Runs on the GUI thread after success, if `owner` still lives.
    std::function<void()> done = {};
    QPointer<QObject> owner = {};
};

/// Files that are being written or read off the GUI thread: how far they are, the time left, a way
/// to cancel. A file that is cancelled or fails leaves nothing behind. They outlive the window's
/// pages and end with this object. GUI thread.
class FileWorks final : public QObject {
    Q_OBJECT
public:
    explicit FileWorks(QObject* parent = nullptr);
    /// Cancels what runs, and waits for it.
    ~FileWorks() override;

    void start(FileWork work);
    /// Writes a file whose content is ready.
    void write(const QString& file, FileWriter writer, std::function<void()> done = {},
               QObject* owner = nullptr);
    bool busy() const { return !jobs_.empty(); }
    /// The oldest takes long enough to be worth showing.
    bool isLong() const;
    /// Text of the oldest one: "Exporting run-3.onnx · 42 % · 0:12 left", and how many wait behind
    /// it.
    QString text();
    /// Share of the oldest that is done; 0: not known.
    double share() const;
    void cancel();

signals:
    /// One began, came further or ended.
    void changed();
    /// One ended: what was written, or why it was not.
    void told(const ui::Problem& problem);

private:
    struct Job;
    void end(const Job* job, const Outcome<QString>& outcome);

    std::vector<std::unique_ptr<Job>> jobs_;  ///< in order
    TimeLeft left_;
};

}  // namespace ui
