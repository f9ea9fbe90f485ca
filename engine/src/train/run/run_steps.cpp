#include "train/run/run_steps.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/error.h"
#include "parallel/communicator.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

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

void RunSteps::prepare(const DataPart& train, const SamplerOptions& sampler, Trainer& trainer) {
    train_ = &train;
    trainer_ = &trainer;
    batches_.emplace(config_, train, sampler, trainer);
}

std::int64_t RunSteps::planned() const {
    const std::int64_t epochs = std::max<std::int64_t>(config_.epochs - progress_.epoch, 0);
    const std::int64_t made = epochs > 0 ? progress_.batch / config_.accumulate : 0;
    const std::int64_t all = trainer_->steps() + per_epoch() * epochs - made;
    return config_.max_steps > 0 ? std::min(all, config_.max_steps) : all;
}

MachineMeter& RunSteps::start_meter() {
    meter_ = std::make_unique<MachineMeter>(trainer_->device());
    return *meter_;
}

void RunSteps::seek() {
    const std::int64_t steps = trainer_->steps(), batches = batches_->loader().batches_per_epoch();
    const bool counts = steps >= 0 && trainer_->updates() >= 0;
    const bool epoch = progress_.epoch >= 0 && progress_.epoch <= steps;
    if (counts && epoch && progress_.batch >= 0 && progress_.batch < batches)
        return batches_->loader().seek(progress_.epoch, progress_.batch);
    throw Error(ErrorCode::data,
                msg("The checkpoint of step {} has an impossible place in the data: epoch {}, "
                    "batch {}; an epoch has {} batches.",
                    steps, progress_.epoch, progress_.batch, batches),
                msg("Resume from an earlier checkpoint of the run (--from)."));
}

void RunSteps::submit(double rate) {
    last_start_ = next_start(rate);
    const auto start = Clock::now();
    const std::span<const Batch> batches = batches_->next();
    std::int64_t samples = 0;
    for (const Batch& batch : batches) {
        samples += batch.samples;
        replaced_here_ += std::ssize(batch.replaced);
        report_damaged(batch.replaced, Damaged::replaced);
    }
    const double data_s = seconds_since(start);
    trainer_->submit(batches, batches_->feed());
    progress_.epoch_ended = batches.back().last_of_epoch;
    if (progress_.epoch_ended) ++progress_.epoch;
    progress_.batch = progress_.epoch_ended ? 0 : batches.back().index_in_epoch + 1;
    submitted_.push_back({.start = last_start_,
                          .epoch = progress_.epoch,
                          .samples = samples,
                          .data_s = data_s,
                          .step_s = seconds_since(start),
                          .elapsed_s = progress_.elapsed_s,
                          .clock_s = 0,
                          .peak_before = home_.recorded_peak()});
    in_step_ = true;
    report_warnings();  // the step is already among the submitted ones if this throws
    // On the CPU this step; on a GPU the one before it, so that a turn takes as long as a step.
    auto finished = trainer_->take(/*all=*/false);
    submitted_.back().step_s = 0;
    add_time(submitted_.back(), seconds_since(start));
    if (finished) finish(std::move(*finished));
}

void RunSteps::settle() {
    if (trainer_ == nullptr) return;
    auto start = Clock::now();
    while (auto finished = trainer_->take(/*all=*/true)) {
        const double waited = seconds_since(start);
        start = Clock::now();
        add_time(submitted_.front(), waited);
        finish(std::move(*finished));
    }
}

void RunSteps::add_time(LoopFigures& figures, double seconds) {
    figures.step_s += seconds;
    figures.elapsed_s = progress_.elapsed_s += seconds;
    figures.clock_s = home_.clock_now();
    if (meter_) figures.machine = meter_->figures(figures.elapsed_s);
}

void RunSteps::finish(CompletedStep step) {
    home_.check_hold();
    RowBuilder::complete(step, submitted_.front());
    submitted_.pop_front();
    progress_.add(step.sums, static_cast<double>(step.row.loss));
    last_row_ = step.row;
    pending_.push_back(std::move(step));
}

std::optional<CompletedStep> RunSteps::write_row() {
    if (pending_.empty()) return std::nullopt;
    home_.check_hold();
    home_.append(pending_.front().row);
    std::optional<CompletedStep> written = std::move(pending_.front());
    pending_.pop_front();
    return written;
}

StepCapsule RunSteps::capsule(const StepStart& start, TrainingState before,
                              std::int64_t planned) const {
    const DeviceScope scope(trainer_->device());
    const AccountingScope accounting(trainer_->accounting());
    return {.config = config_,
            .data = train_->data->schema(),
            .before = std::move(before),
            .batches = batches_->at(start.epoch, start.batch),
            .planned = {planned, per_epoch()},
            .rate_multiplier = start.rate_multiplier};
}

void RunSteps::report_warnings() {
    for (const Message& message : trainer_->take_warnings())
        post_(RunWarning{{}, message, trainer_->steps()});
}

void RunSteps::report_damaged(const std::vector<ReplacedSample>& samples, Damaged how) {
    constexpr std::size_t max_named = 10;
    for (const ReplacedSample& sample : samples) {
        const std::string why = sample.why.str();
        if (told_damaged_.size() > max_named || !told_damaged_.insert(why).second) continue;
        Message text = how == Damaged::left_out
                           ? msg("A damaged sample is left out of the evaluation: {}", why)
                           : msg("A damaged sample is skipped, and the next one of the order "
                                 "takes its place: {}",
                                 why);
        if (told_damaged_.size() > max_named)
            text = msg("More than {} samples are damaged; the end of the run counts those of "
                       "training.",
                       max_named);
        post_(RunWarning{{}, std::move(text), trainer_->steps()});
    }
}

void RunSteps::sum_replaced() {
    if (!train_->data->skips_damaged()) return;
    std::int64_t count = std::exchange(replaced_here_, 0);
    if (trainer_->ranks()) trainer_->ranks()->sum({&count, kernels::DType::i64, 1});
    progress_.replaced += count;
}

}  // namespace engine
