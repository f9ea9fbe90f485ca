#include "train/run/run_evaluation.h"

#include <algorithm>
#include <numeric>

#include "parallel/communicator.h"
#include "tensor/cast.h"
#include "tensor/restore.h"

namespace engine {

PartFigures figures_of(const Task& task, const MetricSums& sums, double loss,
                       PassResults* results) {
    PartFigures figures = unknown_figures(task.metrics());
    if (sums.weight == 0) return figures;
    figures.loss = loss;
    std::vector<double> values(figures.metrics.size());
    task.derive(sums, values);
    if (results != nullptr) results->derive(values);
    for (std::size_t i = 0; i < values.size(); ++i) figures.metrics[i].value = values[i];
    return figures;
}

RunEvaluation::RunEvaluation(const RunConfig& config, Trainer& trainer, const DataParts& data)
    : config_(config),
      trainer_(trainer),
      validation_{data.validation, unknown_figures(trainer.task().metrics())},
      test_{data.test, unknown_figures(trainer.task().metrics())} {}

void RunEvaluation::load_figures(PartFigures validation, PartFigures test) {
    validation_.figures = std::move(validation);
    test_.figures = std::move(test);
}

LoaderOptions evaluation_options(const RunConfig& config, const Task& task, const DataPart& part) {
    std::int64_t rows =
        config.evaluation_batch > 0 ? config.evaluation_batch : task.evaluation_batch();
    // A stream needs two tokens, and a short text has fewer streams rather than no evaluation.
    if (part.data->is_stream()) rows = std::clamp<std::int64_t>(part.size() / 2, 1, rows);
    return {.sampler = {.batch_size = rows,
                        .seed = config.seed,
                        .shuffle = false,
                        .window = config.bptt},
            .epochs = 1,
            .threads = config.threads,
            .leave_out_damaged = true};
}

LoaderOptions RunEvaluation::options_of(const Part& part) const {
    LoaderOptions options = evaluation_options(config_, trainer_.task(), part.part);
    if (part.feed) part.feed->choose(options);
    if (const Communicator* ranks = trainer_.ranks()) {
        options.rank = ranks->rank();
        options.ranks = ranks->size();
    }
    return options;
}

void RunEvaluation::begin() {
    to_do_.clear();
    for (Part* part : {&test_, &validation_}) {
        if (part->part.size() > 0) to_do_.push_back(part);
    }
    begin_part();
}

/// Makes the loader of the next part, and its feed the first time.
void RunEvaluation::begin_part() {
    if (to_do_.empty()) return;
    Part& part = *to_do_.back();
    const Schema& schema = trainer_.task().schema(false);
    if (!part.feed) {
        const DeviceScope scope(trainer_.device());
        const AccountingScope accounting(trainer_.accounting());
        part.feed = make_feed(trainer_.device(), part.part, schema, options_of(part));
    }
    part.loader = std::make_unique<BatchLoader>(part.part, schema, options_of(part));
    part.results = trainer_.task().results(part.part);
    trainer_.begin_evaluation();
}

/// Adds the results of the other ranks.
void RunEvaluation::gather(PassResults& results) const {
    Communicator* const ranks = trainer_.ranks();
    if (ranks == nullptr) return;
    const std::vector<std::byte> own = results.packed();
    const auto bytes = static_cast<std::int64_t>(own.size());
    const std::vector<std::int64_t> counts = gather_counts(*ranks, bytes);
    const std::int64_t whole = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<std::byte> all(static_cast<std::size_t>(whole));
    ranks->gather({all.data(), DType::u8, whole}, {own.data(), DType::u8, bytes}, counts);
    std::size_t from = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        const auto size = static_cast<std::size_t>(counts[rank]);
        if (static_cast<int>(rank) != ranks->rank())
            results.merge(std::span(all).subspan(from, size));
        from += size;
    }
}

bool RunEvaluation::advance() {
    if (to_do_.empty()) return false;
    Part& part = *to_do_.back();
    if (part.loader->next(batch_)) {
        replaced_.insert(replaced_.end(), batch_.replaced.begin(), batch_.replaced.end());
        if (batch_.rows() == 0) return true;
        const Tensor predicted = trainer_.evaluate(batch_, *part.feed);
        if (part.results && predicted.defined()) {
            const DeviceScope scope(trainer_.device());
            const GradMode off(false);
            part.results->see(batch_, snapshot(to(predicted, DType::f32)));
        }
        return true;
    }
    part.loader.reset();
    const MetricSums sums = trainer_.take_evaluation();
    if (part.results) gather(*part.results);
    part.figures =
        figures_of(trainer_.task(), sums, sums.loss / sums.weight, part.results.get());
    part.results.reset();
    to_do_.pop_back();
    begin_part();
    return !to_do_.empty();
}

}  // namespace engine
