#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <memory>

#include "engine/settings/run_config.h"

namespace ui {

/// One run of several workers, which `halftone train` trains as processes of their own. The run is
/// in the history like any other, and the window follows its folder. GUI thread.
class WorkerLaunch final : public QObject {
    Q_OBJECT
public:
    /// `program` is halftone itself.
    explicit WorkerLaunch(QString program, QObject* parent = nullptr);
    /// Stops the run, which has some seconds to save.
    ~WorkerLaunch() override;

    /// Nothing may be running.
    void start(const engine::RunConfig& config);
    bool running() const { return process_.state() != QProcess::NotRunning; }
    /// Ends the processes after the step in flight; a second call ends the processes at once.
    void stop();
    bool stopping() const { return stopping_; }

signals:
    /// The run has begun, in this folder.
    void began(const QString& folder);
    /// Its processes have ended. A failure has a sentence and perhaps a hint.
    void ended(const QString& sentence, const QString& hint);
    /// running() or stopping() changed.
    void changed();

private:
    void read();
    void finish(int code, QProcess::ExitStatus status);

    QString program_;
    QProcess process_;
    std::unique_ptr<QTemporaryDir> folder_;  ///< of the settings file
    bool begun_ = false;
    bool stopping_ = false;
};

}  // namespace ui
