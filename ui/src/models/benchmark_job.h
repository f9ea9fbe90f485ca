#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

#include "engine/instruments/speedup.h"
#include "feed/background_task.h"

namespace ui {

/// Measures a list of settings in FP32 and in other precisions, on a thread of its own. Destroying
/// it ends the measurement after the block in progress. GUI thread.
class BenchmarkJob final : public QObject {
    Q_OBJECT
public:
    struct Order {
        std::vector<engine::RunConfig> settings;
        std::vector<std::string> precisions;
        std::optional<std::int64_t> batchMemory;  ///< as SpeedupOptions::batch_memory
    };
    /// The progress.
    struct Place {
        std::size_t setting = 0;  ///< of the order
        engine::SpeedupProgress at;
    };

    explicit BenchmarkJob(QObject* parent = nullptr);

    void start(const Order& order);
    /// Ends after the block, or the trial of a batch, in progress.
    void stop() { task_.stop(); }
    bool running() const { return task_.running(); }
    /// Whether stop() was called and the thread has not ended yet.
    bool stopping() const { return task_.stopping(); }
    /// Whether stop() was called after the last start().
    bool stopped() const { return task_.stopped(); }
    const Order& order() const { return order_; }
    Place place() const { return task_.progress().place; }
    /// The share of the blocks that are done, in [0, 1].
    double share() const { return share_; }
    /// Pairs of blocks per precision.
    static std::int64_t pairs() { return engine::SpeedupOptions{}.pairs; }

signals:
    void progressed();
    /// One setting was measured: a row for each precision, fewer if it was stopped.
    void measured(const engine::RunConfig& settings, const std::vector<engine::Speedup>& rows,
                  const QString& machine);
    /// One setting cannot be measured.
    void failed(const engine::RunConfig& settings, const engine::Message& problem);
    void ended();

private:
    struct Measured {
        std::size_t setting = 0;
        std::vector<engine::Speedup> rows;
        QString machine;
        engine::Message problem;  ///< empty: none
    };
    struct Progress {
        Place place;
        std::vector<Measured> measured;
    };
    using Task = BackgroundTask<Progress, bool>;
    static Measured measure(const Order& order, std::size_t setting, Task::Link& link);
    void poll();
    void drain();

    Order order_;
    std::size_t told_ = 0;  ///< settings whose outcome was told
    double share_ = 0;
    Task task_;
};

}  // namespace ui
