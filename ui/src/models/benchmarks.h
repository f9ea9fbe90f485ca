#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <utility>

#include "models/benchmark_book.h"
#include "models/benchmark_job.h"

namespace ui {

class EventFeed;

/// The models that the page Benchmarks measures, which of them are chosen, and what was measured:
/// for that page, and for the verdict, which says why a precision does not pay. Outlives the
/// window, so that a measurement goes on when the language changes. GUI thread.
class Benchmarks final : public QObject {
    Q_OBJECT
public:
    /// `file` is read when something is first asked for, and written after every change.
    Benchmarks(EventFeed* feed, QString file, QObject* parent = nullptr);
    /// Of the user.
    static QString defaultFile();

    const BenchmarkBook& book();
    void setChosen(std::size_t entry, bool chosen);
    void setPrecision(const QString& preset, bool chosen);
    void setFindsBatches(bool finds);
    void setMemory(const QString& memory);
    /// Chooses the settings of a run alone, adds them if they are new, and chooses the precision.
    void chooseRun(const engine::RunConfig& config, const std::string& precision);
    /// chooseRun() was called and the page has not been shown since; once.
    bool takeRequest() { return std::exchange(requested_, false); }
    /// Null: not measured.
    const BenchmarkResult* find(const engine::RunConfig& config, const std::string& precision);

    /// Why it cannot begin to measure; empty if it can.
    QString whyNot();
    void start();
    void stop();
    const BenchmarkJob& job() const { return job_; }
    /// How the last measurement ended, in sentences; empty before the first.
    const QString& outcome() const { return outcome_; }

signals:
    /// Entries, or what is chosen.
    void changed();
    void resultsChanged();
    void progressed();
    /// A measurement has begun or ended, or what stands in its way has changed.
    void stateChanged();

private:
    BenchmarkBook& opened();
    void keep();
    void add(const engine::RunConfig& settings, const std::vector<engine::PayOff>& rows,
             const QString& machine);
    void end();
    void feedChanged();
    /// Bytes of the limit; 0: it is no size.
    std::int64_t memoryLimit();

    EventFeed* feed_;
    QString file_;
    BenchmarkBook book_;
    bool read_ = false;
    bool requested_ = false;
    BenchmarkJob job_;
    QElapsedTimer clock_;
    QStringList problems_;    ///< of the measurement in progress
    int measured_ = 0;        ///< settings of it
    bool disturbed_ = false;  ///< it was stopped because a run began to train
    QString outcome_;
};

}  // namespace ui
