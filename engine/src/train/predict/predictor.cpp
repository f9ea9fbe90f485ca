#include "train/predict/predictor.h"

#include <algorithm>
#include <cmath>

#include "data/loader/batch_loader.h"
#include "tasks/task_descriptor.h"
#include "tensor/cast.h"
#include "tensor/restore.h"
#include "train/run/run_needs.h"

namespace engine {

MadeSample::MadeSample(const Schema& schema, std::int64_t size)
    : schema_(schema), size_(size), f32_(schema.fields.size()), i64_(schema.fields.size()) {
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const auto numbers = static_cast<std::size_t>(schema.fields[i].shape.numel());
        if (schema.fields[i].dtype == DType::f32) f32_[i].resize(numbers);
        if (schema.fields[i].dtype == DType::i64) i64_[i].resize(numbers);
        if (schema.fields[i].windowed) window_ = 1;
    }
    set_window(window_);
}

void MadeSample::set_window(std::int64_t tokens) {
    if (!is_stream()) return;
    window_ = tokens;
    for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
        if (schema_.fields[i].windowed) i64_[i].resize(static_cast<std::size_t>(tokens));
    }
}

void MadeSample::read(std::int64_t, const SampleFields& out) const {
    for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
        if (schema_.fields[i].dtype == DType::f32)
            std::ranges::copy(f32_[i], out.f32(i).begin());
        else if (schema_.fields[i].dtype == DType::i64)
            std::ranges::copy(i64_[i], out.i64(i).begin());
    }
}

std::vector<float>& MadeSample::f32(std::string_view field) { return f32_[schema_.index(field)]; }

std::vector<std::int64_t>& MadeSample::i64(std::string_view field) {
    return i64_[schema_.index(field)];
}

Predictor::Predictor(const SavedRun& saved, const Schema& data, const Device& device)
    : context_(saved.config, device), task_(make_task(saved.config, data)) {
    const RunContext::Entry entered(context_);
    const ModelShape shape = task_->model_shape();
    check_model_fits(saved.config, shape, device);
    model_ = make_model(saved.config.model, shape, saved.config.seed, device);
    precision_ = std::make_unique<MixedPrecision>(resolve(saved.config.precision),
                                                  saved.config.scaler, *model_, device, nullptr,
                                                  recipe_settings(saved.config));
    load_state(*model_, saved.training.weights);
    if (QuantizedLayers* const layers = precision_->quantized())
        layers->load_state(saved.training.quantization, saved.step());
    evaluator_ = std::make_unique<Evaluator>(*task_, *model_, *precision_, device);
}

void Predictor::begin() { evaluator_->begin(); }

Tensor Predictor::predict(const Batch& batch, BatchFeed& feed) {
    const RunContext::Entry entered(context_);
    const GradMode off(false);
    return snapshot(to(evaluator_->add(batch, feed), DType::f32));
}

Tensor Predictor::predict(const std::shared_ptr<const Dataset>& sample, std::int64_t seed) {
    const RunContext::Entry entered(context_);
    const DataPart part{sample};
    const bool is_text = sample->is_stream();
    const LoaderOptions options{.sampler = {.batch_size = is_text ? 1 : sample->size(),
                                            .seed = seed,
                                            .shuffle = false,
                                            .window = is_text ? sample->size() - 1 : 1},
                                .epochs = 1};
    // A picture of its own size has a canvas of its own.
    Schema schema = task_->schema(false);
    for (std::size_t f = 0; f < sample->schema().fields.size(); ++f)
        schema.fields[f].by_batch = sample->schema().fields[f].by_batch;
    const auto feed = make_ring_feed(device(), schema);
    Batch batch;
    BatchLoader(part, schema, options).next(batch);
    return predict(batch, *feed);
}

std::vector<double> to_probabilities(const std::vector<double>& scores) {
    const double highest = std::ranges::max(scores);
    std::vector<double> out;
    double sum = 0;
    for (const double score : scores) {
        const bool finite = !std::isinf(highest) || std::isnan(score);
        sum += out.emplace_back(finite ? std::exp(score - highest) : score == highest ? 1.0 : 0.0);
    }
    for (double& value : out) value /= sum;
    return out;
}

void in_original_units(const FieldSpec& field, std::vector<double>& values) {
    const Normalization& scale = field.normalization;
    if (scale.empty()) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t at = std::min(i, scale.mean.size() - 1);
        values[i] = values[i] * static_cast<double>(scale.deviation[at]) +
                    static_cast<double>(scale.mean[at]);
    }
}

}  // namespace engine
