#pragma once

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>

#include "engine/instruments/precision_search.h"
#include "engine/instruments/xray.h"
#include "feed/step_jobs.h"
#include "view/context.h"

namespace ui {

class RunTrack;
class SearchJob;

/// Which trace of the step is on show.
enum class XrayView {
    own,        ///< in the precision of the run
    other,      ///< in the precision that it is compared with
    difference  ///< both
};

/// The traced step: the next one of a live run, a selected one of any run, or the first of the
/// settings if no run is on screen; its trace in a second precision; and the last experiment with a
/// forced type. All are computed on copies, on the compute thread. GUI thread.
class XrayModel final : public QObject {
    Q_OBJECT
public:
    explicit XrayModel(const Context& context, QObject* parent = nullptr);

    /// The trace of the view; in the difference view the run's own.
    const std::optional<engine::Xray>& trace() const;
    const std::optional<engine::Xray>& ownTrace() const { return own_; }
    const std::optional<engine::Xray>& otherTrace() const { return other_; }
    const std::optional<engine::XrayExperiment>& experiment() const { return experiment_; }
    bool busy() const { return jobs_->busy(); }
    QString progress() const { return jobs_->progress(); }
    void cancel() { jobs_->cancel(); }
    /// The page is left: a trace that nobody looks at must not hold up the run.
    void leave() { jobs_->abandon(); }
    /// Why the last job failed; empty if it did not.
    QString problem() const { return jobs_->problem(); }
    const std::shared_ptr<RunTrack>& track() const { return track_; }

    XrayView view() const { return view_; }
    /// Traces the step in the second precision if the view needs it.
    void setView(XrayView view);
    /// Presets of the two traces: that of the run or the settings, and FP32, or AMP FP16 beside it.
    std::string ownPrecision() const;
    std::string otherPrecision() const;

    /// The run is live and no step is selected, so the step to come is traced.
    bool tracesNext() const;
    /// Traces the step to come, the selected one, or the newest of a run that has ended.
    void traceStep();
    /// Traces if there is no trace yet, a step takes under a second, and the steps to compute
    /// before it do not take long.
    void traceIfShort();
    /// Computes the traced step again with a type forced on a module, an operation, or both.
    void tryForced(const std::string& key, engine::ForcedType type);
    /// Writes the experiment's types into the settings of the run, for the next start.
    void keep();
    /// Writes a set that the precision search found, with AMP FP16, into these settings for the
    /// next start.
    void keep(const engine::FoundPrecision& found, engine::RunConfig config);
    /// The settings of the run, or those that are being edited where no run is on screen.
    const engine::RunConfig& runConfig() const;
    bool kept() const { return kept_; }
    /// Takes the experiment away, and what keep() wrote of it.
    void forgetExperiment();
    /// The traced step, or else the one that traceStep() would trace, and its copy if there is one.
    StepSource source() const;
    const std::optional<engine::CapturedStep>& captured() const { return captured_; }

    /// The precision search that a dialog is open for; it outlives the dialog in another language.
    SearchJob* search();
    bool isSearchOpen() const { return search_ != nullptr; }
    /// The dialog is closed.
    void endSearch();

signals:
    void traceChanged();
    void viewChanged();
    void experimentChanged();
    void stateChanged();
    /// Another run was selected, and nothing is computed for the one before any more.
    void runReady();

private:
    void refresh();
    void clear();
    StepSource wanted() const;
    void traceOther();

    Context context_;
    StepJobs* jobs_;
    SearchJob* search_ = nullptr;
    std::shared_ptr<RunTrack> track_;
    std::filesystem::path folder_;  ///< of the run; empty: the settings are traced
    XrayView view_ = XrayView::own;
    std::optional<engine::CapturedStep> captured_;  ///< of own_
    std::optional<engine::Xray> own_, other_;
    std::optional<engine::XrayExperiment> experiment_;
    std::optional<engine::RunConfig> before_;  ///< settings before keep()
    bool kept_ = false;
    bool changed_ = false;  ///< another run was selected while a job ran for the one before
};

}  // namespace ui
