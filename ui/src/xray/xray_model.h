#pragma once

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>

#include "engine/xray.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// The trace on show: of a step of the selected run, or of the first step of the settings where no
/// run is on screen; and the last experiment with a forced type. Traces run on the compute thread.
/// GUI thread.
class XrayModel final : public QObject {
    Q_OBJECT
public:
    explicit XrayModel(const Context& context, QObject* parent = nullptr);

    const std::optional<engine::Xray>& trace() const { return trace_; }
    const std::optional<engine::XrayExperiment>& experiment() const { return experiment_; }
    /// A trace or an experiment is being computed.
    bool busy() const { return busy_; }
    /// Why the last one failed; empty if it did not.
    const QString& problem() const { return problem_; }
    const std::shared_ptr<RunTrack>& track() const { return track_; }

    /// Traces the selected step, or the newest one of the run.
    void traceStep();
    /// Computes the traced step again with a type forced on a module, an operation, or both.
    void tryForced(const std::string& key, engine::ForcedType type);
    /// Writes the experiment's types into the settings.
    void keep();
    void forgetExperiment();

signals:
    void traceChanged();
    void experimentChanged();
    void stateChanged();

private:
    void refresh();
    std::int64_t wantedStep() const;
    template <typename Result>
    void compute(std::function<Result()> work, std::function<void(Result)> take);

    Context context_;
    std::shared_ptr<RunTrack> track_;
    std::filesystem::path folder_;  ///< of the run; empty: the settings are traced
    std::optional<engine::Xray> trace_;
    std::optional<engine::XrayExperiment> experiment_;
    bool busy_ = false;
    QString problem_;
};

}  // namespace ui
