#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/loader/batch_loader.h"
#include "train/run/trainer.h"

namespace engine {

/// The evaluations of a run, on its validation and its test part, a batch at a time. One thread.
class RunEvaluation {
public:
    RunEvaluation(const RunConfig& config, Trainer& trainer, const DataParts& data);

    /// An evaluation of both parts begins.
    void begin();
    /// Evaluates one batch; false when the evaluation is over. Throws Error.
    bool advance();

    /// The damaged samples that the batches since the last call left out.
    std::vector<ReplacedSample> take_replaced() { return std::exchange(replaced_, {}); }

    /// Figures of the last evaluation; unknown before.
    const PartFigures& validation() const { return validation_.figures; }
    const PartFigures& test() const { return test_.figures; }
    void load_figures(PartFigures validation, PartFigures test);

private:
    /// A part that is evaluated, and how its batches reach the device.
    struct Part {
        DataPart part;
        PartFigures figures;
        std::unique_ptr<BatchFeed> feed{};
        std::unique_ptr<BatchLoader> loader{};
        std::unique_ptr<PassResults> results{};  ///< of the pass under way; null: the task has none
    };
    LoaderOptions options_of(const Part& part) const;
    void begin_part();
    void gather(PassResults& results) const;

    const RunConfig& config_;
    Trainer& trainer_;
    Part validation_, test_;
    std::vector<Part*> to_do_;  // the next one last
    Batch batch_;
    std::vector<ReplacedSample> replaced_;
};

/// How a part is read for evaluation: in order, once, without damaged samples.
LoaderOptions evaluation_options(const RunConfig& config, const Task& task, const DataPart& part);

/// Metrics that a task computes from these sums and results (may be null), and the loss; unknown
/// where nothing was summed.
PartFigures figures_of(const Task& task, const MetricSums& sums, double loss,
                       PassResults* results = nullptr);

}  // namespace engine
