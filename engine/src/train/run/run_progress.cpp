#include "train/run/run_progress.h"

namespace engine {
namespace {

template <typename Progress, typename F>
void for_each_number(Progress& progress, F&& f) {
    f("epoch", progress.epoch);
    f("batch", progress.batch);
    f("epoch_ended", progress.epoch_ended);
    f("evaluated", progress.evaluated);
    f("elapsed_s", progress.elapsed_s);
    f("epoch_start_s", progress.epoch_start_s);
    f("weight", progress.sums.weight);
    f("loss", progress.sums.loss);
    f("loss_sum", progress.loss_sum);
    for (int i = 0; i < kernels::MetricSums::value_count; ++i)
        f("sum_" + std::to_string(i), progress.sums.values[i]);
}

}  // namespace

void RunProgress::begin_epoch() {
    sums = {};
    loss_sum = 0;
    epoch_start_s = elapsed_s;
}

void RunProgress::add(const kernels::MetricSums& step, double loss) {
    loss_sum += loss * step.weight;
    sums.weight += step.weight;
    sums.loss += step.loss;
    for (int i = 0; i < kernels::MetricSums::value_count; ++i) sums.values[i] += step.values[i];
}

SavedNumbers saved_state(const RunProgress& progress) {
    SavedNumbers out;
    for_each_number(progress, saving_into(out));
    if (progress.replaced != 0) out["replaced"] = static_cast<double>(progress.replaced);
    return out;
}

void load_state(RunProgress& progress, const SavedNumbers& saved) {
    const auto load = loading_from(saved);
    for_each_number(progress, [&](const std::string& name, auto& field) {
        // Checkpoints of earlier versions lack it.
        if (name != "evaluated" || saved.contains(name)) load(name, field);
    });
    // Checkpoints of earlier versions do not have it.
    progress.replaced = saved.contains("replaced") ? saved_count(saved, "replaced") : 0;
}

}  // namespace engine
