#include "commands/file_works.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <atomic>
#include <utility>

#include "engine/io/work_scope.h"
#include "feed/background_task.h"
#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int worksLookEvery = 200;  // ms
constexpr qint64 shortWork = 250;  // ms: over before anybody could read about it

struct Cancelled {};

}  // namespace

struct FileWorks::Job {
    FileWork given;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> ended{false};  ///< the other thread is through with it
    std::atomic<double> share{0};
    QElapsedTimer since;
    bool succeeded = false;  ///< read once `ended`

    /// Runs on another thread.
    Problem run() {
        const engine::WorkScope scope([this](double done) {
            if (cancelled) throw Cancelled{};
            share = done;
        });
        try {
            const QString said = given.work();
            succeeded = true;
            return {said, {}, engine::ErrorCode::io, true, given.file};
        } catch (const Cancelled&) {
            return {tr("%1: cancelled. Nothing was kept.").arg(given.title), {},
                    engine::ErrorCode::io, true};
        } catch (const engine::Error& error) {
            const Failure failure(error);
            return {failure.sentence(), failure.hint(), error.code(), false, {}, false, failure};
        } catch (const std::exception& error) {
            return {QString::fromUtf8(error.what()), {}, engine::ErrorCode::io};
        }
    }
};

FileWorks::FileWorks(QObject* parent) : QObject(parent) {
    timer_.setInterval(worksLookEvery);
    connect(&timer_, &QTimer::timeout, this, &FileWorks::changed);
}

FileWorks::~FileWorks() {
    for (const auto& job : jobs_) job->cancelled = true;
    for (const auto& job : jobs_) job->ended.wait(false);
}

void FileWorks::start(FileWork work) {
    auto job = std::make_shared<Job>();
    job->given = std::move(work);
    job->since.start();
    jobs_.push_back(job);
    timer_.start();
    inBackground(
        this,
        [job] {
            Problem said = job->run();
            job->ended = true;
            job->ended.notify_all();
            return said;
        },
        [this, job](const Problem& said) { end(job, said); });
    emit changed();
}

void FileWorks::write(const QString& file, FileWriter writer, std::function<void()> done,
                      QObject* owner) {
    start({tr("Exporting %1").arg(QFileInfo(file).fileName()),
           file,
           [file, writer = std::move(writer)] {
               writer();
               return tr("Exported to %1.").arg(file);
           },
           std::move(done),
           owner});
}

void FileWorks::end(const std::shared_ptr<Job>& job, const Problem& problem) {
    std::erase(jobs_, job);
    left_ = {};
    if (jobs_.empty()) timer_.stop();
    emit changed();
    if (!problem.sentence.isEmpty()) emit told(problem);
    if (job->succeeded && job->given.done && job->given.owner) job->given.done();
}

bool FileWorks::isLong() const {
    return !jobs_.empty() && jobs_.front()->since.hasExpired(shortWork);
}

double FileWorks::share() const { return jobs_.empty() ? 0 : jobs_.front()->share.load(); }

QString FileWorks::text() {
    if (jobs_.empty()) return {};
    const Job& first = *jobs_.front();
    QString text = first.given.title;
    if (first.cancelled) {
        text = tr("%1: cancelling…").arg(text);
    } else if (first.share > 0) {
        text = left_.behind(text + u" · "_s + percent(first.share), first.share);
    }
    const std::int64_t more = std::ssize(jobs_) - 1;
    return more == 0 ? text : tr("%1 (and %2 more)").arg(text, count(more));
}

void FileWorks::cancel() {
    if (jobs_.empty()) return;
    jobs_.front()->cancelled = true;
    emit changed();
}

}  // namespace ui
