#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <optional>
#include <utility>

#include "models/benchmark_book.h"
#include "models/benchmark_job.h"

namespace ui {

class EventFeed;

/// The models of the page Benchmarks, the user's choice, and the results. Used by that page and by
/// the verdict, which says why a precision does not pay. Outlives the window, so that a measurement
/// continues when the language changes. GUI thread.
class Benchmarks final : public QObject {
    Q_OBJECT
public:
    /// `file` is read at the first use, and written after every change.
    Benchmarks(EventFeed* feed, QString file, QObject* parent = nullptr);
    /// File of the user.
    static QString defaultFile();

    const BenchmarkBook& book();
    void setChosen(std::size_t entry, bool chosen);
    void setPrecision(const QString& preset, bool chosen);
    void setFindsBatches(bool finds);
    void setMemory(const QString& memory);
    /// Chooses only the settings of a run, which are added if they are new, and the precision.
    void chooseRun(const engine::RunConfig& config, const std::string& precision);
    /// Whether chooseRun() was called since the last call of this.
    bool takeRequest() { return std::exchange(requested_, false); }
    /// Null: not measured.
    const BenchmarkResult* find(const engine::RunConfig& config, const std::string& precision);

    /// Why a measurement cannot begin; empty if it can.
    QString whyNot();
    void start();
    void stop();
    const BenchmarkTask& job() const { return job_; }
    /// The order that is measured, or was.
    const BenchmarkOrder& order() const { return order_; }
    /// The share of it that is done, in [0, 1].
    double share() const { return share_; }
    /// How the last measurement ended, in sentences; empty before the first.
    QString outcome() const;

signals:
    /// The entries or the choice have changed.
    void changed();
    void resultsChanged();
    void progressed();
    /// A measurement has begun or ended, or whyNot() has changed.
    void stateChanged();

private:
    BenchmarkBook& opened();
    void keep();
    void add(const engine::RunConfig& settings, const std::vector<engine::Speedup>& rows,
             const QString& machine);
    void takeMeasured();
    void end();
    void feedChanged();
    /// The limit in bytes; 0 if the text is not a size.
    std::int64_t memoryLimit();

    EventFeed* feed_;
    QString file_;
    BenchmarkBook book_;
    bool read_ = false;
    bool requested_ = false;
    BenchmarkTask job_;
    BenchmarkOrder order_;
    std::size_t taken_ = 0;  ///< settings whose results are taken
    double share_ = 0;
    QElapsedTimer clock_;
    /// Error of one of the settings.
    struct Fault {
        engine::RunConfig settings;
        engine::Message problem;
    };
    struct Ended {
        std::int64_t asked = 0, measured = 0;
        bool disturbed = false, stopped = false;
        double seconds = 0;
        std::vector<Fault> faults;
    };
    std::vector<Fault> faults_;  ///< of the measurement in progress
    int measured_ = 0;        ///< settings of it
    bool disturbed_ = false;  ///< it was stopped because a run began to train
    std::optional<Ended> ended_;  ///< of the last measurement
};

}  // namespace ui
