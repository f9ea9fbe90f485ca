#include "train/run/continued_run.h"

#include <utility>

#include "engine/base/error.h"
#include "runs/event_file.h"
#include "train/step/make_optimizer.h"

namespace engine {

ContinuedRun::ContinuedRun(const Continuation& from, const RunConfig& config)
    : from_(from) {
    if (auto started = last_start(from.run_folder)) before_ = std::move(*started);
    if (from.checkpoint.empty()) {
        restored_.push_back(from.in_place
                                ? msg("Nothing: the run has no checkpoint and starts again.")
                                : msg("Nothing: the run begins anew from the start."));
    } else {
        saved_ = read_saved_run(from.checkpoint);
        restored_ = restored_parts(*saved_, config);
    }
}

void ContinuedRun::set_schedule(RunConfig& config, Trainer& trainer,
                                const PlannedSteps& planned) {
    lengthen_schedule(config, saved_->config,
                      {before_.steps_planned, trainer.steps(), trainer.updates()}, planned,
                      from_.schedule, restored_);
    trainer.set_schedule(make_schedule(config, planned));
}

void ContinuedRun::open(RunHome& home, const RunProgress& progress, std::int64_t step,
                        bool same_size, std::size_t columns,
                        const record_layout::OptionalColumns& optional) {
    if (!same_size && progress.batch > 0) {
        throw Error(ErrorCode::data,
                    msg("The data set has another number of samples, and the checkpoint of step {} "
                        "lies within an epoch.",
                        step),
                    msg("Resume from a checkpoint at the end of an epoch (--from), or train a new "
                        "run."));
    }
    in_place_ = same_size && from_.in_place;
    if (in_place_) return home.reopen(from_, step, columns);
    home.create(columns, optional);
    parent_ = EventFile(from_.run_folder).run();
}

RunResumed ContinuedRun::resumed(const Trainer& trainer, std::int64_t threads) {
    if (before_.threads > 0 && before_.threads != threads)
        restored_.push_back(
            msg("Threads: {} instead of {}. Sums are added in another order, so the bits are not "
                "those of a run that was never stopped.",
                threads, before_.threads));
    const std::int64_t skipped = trainer.steps() - trainer.updates();
    return {{}, trainer.steps(), skipped, parent_, std::move(restored_)};
}

}  // namespace engine
