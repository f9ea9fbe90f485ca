#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/record/histogram_record.h"
#include "feed/step_jobs.h"
#include "text/language.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// Exponents of one layer over the samples of a run.
struct Drift {
    std::vector<std::int64_t> steps;
    std::vector<double> scales;
    std::vector<engine::ExponentHistogram> values;  ///< gradients: multiplied by the scale
};

/// State of the microscope: the sample nearest to the selected step, a kind of values, a layer, and
/// the loss scale that the user drags the gradients to. The only class of the page that reads
/// files. GUI thread.
class MicroscopeModel final : public QObject {
    Q_OBJECT
public:
    explicit MicroscopeModel(const Context& context, QObject* parent = nullptr);
    ~MicroscopeModel() override;

    /// Null while no run is on screen.
    const std::shared_ptr<RunTrack>& track() const { return track_; }
    /// Why there is nothing to show; empty if there is.
    QString emptiness() const;

    engine::HistogramKind kind() const { return kind_; }
    void setKind(engine::HistogramKind kind);
    /// Whether the FP32 shadow pass of the step is shown instead of the step itself.
    bool shadowShown() const { return sample_ && sample_->shadow; }
    void setShadowWanted(bool wanted);
    bool hasShadow() const;
    /// The run is live and no step is selected, so the shadow pass is that of the step to come.
    bool shadowsNext() const;
    /// Computes and shows a step in FP32 and as the run does: the selected step, the next one of a
    /// live run, or that of the displayed sample. The experiment waits meanwhile.
    void computeShadow();
    bool busy() const { return jobs_->busy(); }
    QString progress() const { return jobs_->progress(); }
    void cancel() { jobs_->cancel(); }
    /// Why the last shadow pass failed; empty if it did not.
    QString problem() const { return jobs_->problem(); }

    /// The sample on show; nothing without samples.
    const std::optional<engine::HistogramSample>& sample() const { return sample_; }
    /// The sample's layers of this kind, in the order of the network.
    const std::vector<const engine::LayerHistogram*>& layers() const { return layers_; }
    /// Index into layers(); -1: none.
    int selected() const;
    void select(int layer);
    const engine::LayerHistogram* selectedLayer() const;
    /// Sum of all layers.
    const engine::ExponentHistogram& total() const { return total_; }

    /// The format whose limits count: that of the values, until another one is chosen.
    const engine::NumberFormat& format() const;
    void setFormat(const engine::NumberFormat& format);

    /// Gradients of a run that scales its loss: the only values with a handle.
    bool scaled() const;
    /// The factor on the counted values: the loss scale of the step, or 1 in a shadow pass.
    double counted() const;
    /// The loss scale of the step itself.
    double scale() const;
    /// Whether the run still has this loss scale: else it is that of an earlier step.
    bool isScaleNow() const;
    /// Where the handle is; scale() unless it was dragged.
    double draggedScale() const { return dragged_ > 0 ? dragged_ : scale(); }
    bool isDragged() const { return dragged_ > 0 && dragged_ != scale(); }
    /// The handle is not at the scale at which the values were counted.
    bool isMoved() const { return draggedScale() != counted(); }
    /// 0: back to the scale of the step.
    void drag(double scale);

    /// The drift of the selected layer, without shadows. Grows with the run, and slice by slice
    /// after another layer was selected.
    const Drift& drift();

signals:
    /// Another sample, kind, run or format: everything changes.
    void contentChanged();
    void layerChanged();
    void scaleDragged();
    void driftGrew();
    /// A shadow pass begins or ends.
    void stateChanged();

private:
    void refreshTrack();
    void refreshFile();
    void refreshSample();
    void refreshScale();
    void open();
    bool readSample();
    bool showComputed();
    void show(engine::HistogramSample sample);
    void growDrift();
    void clear();

    Context context_;
    std::shared_ptr<RunTrack> track_;
    std::filesystem::path folder_;
    std::optional<engine::HistogramRecordReader> reader_;
    Failure problem_;
    engine::HistogramKind kind_ = engine::HistogramKind::gradients;
    bool shadowWanted_ = false;
    /// Histograms of one step, computed here.
    struct Computed {
        engine::HistogramSample shadow, measured;
    };
    StepJobs* jobs_;
    std::map<std::int64_t, Computed> computed_;  ///< by step
    std::optional<std::size_t> shown_;           ///< index of the sample in the file
    std::optional<engine::HistogramSample> sample_;
    std::vector<const engine::LayerHistogram*> layers_;  ///< in sample_
    engine::ExponentHistogram total_;
    const engine::NumberFormat* format_ = nullptr;  ///< null: that of the values
    double dragged_ = 0;
    bool scaleIsNow_ = true;  ///< isScaleNow() as of the last contentChanged()
    Drift drift_;
    std::string driftLayer_;
    std::size_t driftSamples_ = 0;  ///< of the file that were looked at
    QTimer driftTimer_;             ///< for the next slice
};

}  // namespace ui
