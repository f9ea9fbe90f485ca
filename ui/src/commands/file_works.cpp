#include "commands/file_works.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <utility>

namespace ui {
namespace {

constexpr int worksLookEvery = 200;  // ms
constexpr qint64 shortWork = 250;  // ms: over before anybody could read about it

}  // namespace

struct FileWorks::Job {
    Job(FileWork work, FileWorks* works)
        : given(std::move(work)), task([works] { emit works->changed(); }, worksLookEvery) {
        since.start();
    }
    FileWork given;
    QElapsedTimer since;
    BackgroundTask<double, QString> task;  ///< its progress is the share
};

FileWorks::FileWorks(QObject* parent) : QObject(parent) {}

FileWorks::~FileWorks() {
    for (const auto& job : jobs_) job->task.stop();
    for (const auto& job : jobs_) job->task.wait();
}

void FileWorks::start(FileWork work) {
    jobs_.push_back(std::make_unique<Job>(std::move(work), this));
    Job* const job = jobs_.back().get();
    job->task.start(
        [work = job->given.work](auto& link) {
            const engine::WorkScope scope([&link](double done) {
                link.check();
                link.report([done](double& share) { share = done; });
            });
            return work();
        },
        [this, job](const Outcome<QString>& outcome) { end(job, outcome); });
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

void FileWorks::end(const Job* job, const Outcome<QString>& outcome) {
    const FileWork given = job->given;
    std::erase_if(jobs_, [job](const auto& each) { return each.get() == job; });
    left_ = {};
    emit changed();
    if (outcome.error) {
        const Failure failure = outcome.failure();
        emit told({failure.sentence(), failure.hint(), outcome.error->code(), false, {}, false,
                   failure});
    } else if (outcome.stopped()) {
        emit told({tr("%1: cancelled. Nothing was kept.").arg(given.title), {},
                   engine::ErrorCode::io, true});
    } else {
        if (!outcome.result->isEmpty())
            emit told({*outcome.result, {}, engine::ErrorCode::io, true, given.file});
        if (given.done && given.owner) given.done();
    }
}

bool FileWorks::isLong() const {
    return !jobs_.empty() && jobs_.front()->since.hasExpired(shortWork);
}

double FileWorks::share() const { return jobs_.empty() ? 0 : jobs_.front()->task.progress(); }

QString FileWorks::text() {
    if (jobs_.empty()) return {};
    const Job& first = *jobs_.front();
    QString text = first.given.title;
    if (first.task.stopped()) {
        text = tr("%1: cancelling…").arg(text);
    } else if (share() > 0) {
        text = left_.behind(text + u" · "_s + percent(share()), share());
    }
    const std::int64_t more = std::ssize(jobs_) - 1;
    return more == 0 ? text : tr("%1 (and %2 more)").arg(text, count(more));
}

void FileWorks::cancel() {
    if (jobs_.empty()) return;
    jobs_.front()->task.stop();
    emit changed();
}

}  // namespace ui
