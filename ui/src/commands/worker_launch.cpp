#include "commands/worker_launch.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int timeToSaveMs = 10'000;

/// The program's own sentence and its hint, among what the launcher writes.
std::pair<QString, QString> wordsOf(const QString& errors) {
    const QString mark = u"halftone: "_s;
    const QStringList lines = errors.split(u'\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (!lines[i].startsWith(mark)) continue;
        const QString next = lines.value(i + 1);
        const bool isHint = !next.isEmpty() && !next.startsWith(mark) && !next.startsWith(u"--"_s);
        return {lines[i].mid(mark.size()), isHint ? next : QString()};
    }
    return {};
}

}  // namespace

WorkerLaunch::WorkerLaunch(QString program, QObject* parent)
    : QObject(parent), program_(std::move(program)), process_(this) {
    process_.setStandardInputFile(QProcess::nullDevice());
    connect(&process_, &QProcess::readyReadStandardOutput, this, &WorkerLaunch::read);
    connect(&process_, &QProcess::finished, this, &WorkerLaunch::finish);
    connect(&process_, &QProcess::stateChanged, this, &WorkerLaunch::changed);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;
        emit ended(tr("The program cannot be started: %1.").arg(process_.errorString()), {});
    });
}

WorkerLaunch::~WorkerLaunch() {
    disconnect(&process_, nullptr, this, nullptr);
    if (!running()) return;
    process_.terminate();
    if (!process_.waitForFinished(timeToSaveMs)) process_.kill();
    process_.waitForFinished();
}

void WorkerLaunch::start(const engine::RunConfig& config) {
    begun_ = stopping_ = false;
    folder_ = std::make_unique<QTemporaryDir>();
    QFile file(folder_->filePath(u"settings.json"_s));
    const std::string text = engine::to_json(config);
    const bool written = file.open(QIODevice::WriteOnly) &&
                         file.write(text.data(), static_cast<qint64>(text.size())) >= 0;
    file.close();
    if (!written)
        return emit ended(tr("The settings cannot be written to %1: %2.")
                              .arg(file.fileName(), file.errorString()),
                          {});
    process_.start(program_, {u"train"_s, file.fileName(), u"--json"_s});
}

void WorkerLaunch::stop() {
    if (!running()) return;
    process_.terminate();
    stopping_ = true;
    emit changed();
}

/// Only the start is read here: the window has the rest from the run's folder.
void WorkerLaunch::read() {
    while (!begun_ && process_.canReadLine()) {
        const QJsonObject event = QJsonDocument::fromJson(process_.readLine()).object();
        if (event.value(u"event"_s) != u"start"_s) continue;
        begun_ = true;
        emit began(event.value(u"folder"_s).toString());
    }
    if (begun_) process_.readAllStandardOutput();
}

void WorkerLaunch::finish(int code, QProcess::ExitStatus status) {
    read();
    const bool failed = code != 0 || status != QProcess::NormalExit;
    const QString errors = QString::fromUtf8(process_.readAllStandardError());
    const auto [sentence, hint] = failed ? wordsOf(errors) : std::pair<QString, QString>();
    const bool silent = failed && sentence.isEmpty();
    emit ended(silent ? tr("The workers ended with exit code %1.").arg(code) : sentence, hint);
}

}  // namespace ui
