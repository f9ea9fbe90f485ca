#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/loader/collator.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/binary.h"
#include "support/device_support.h"
#include "support/element.h"
#include "tensor/layout.h"
#include "train/step/train_step.h"

// Tasks with several optimizers or phases, and a TrainStep with everything it needs.
namespace engine::test {

/// A number in [-1, 1) that is a function of three others.
inline float number_of(std::int64_t sample, std::size_t field, std::size_t element) {
    auto h = static_cast<std::uint32_t>(sample) * 0x9E3779B9u +
             static_cast<std::uint32_t>(field) * 0x85EBCA6Bu +
             static_cast<std::uint32_t>(element) * 0xC2B2AE35u;
    h = (h ^ (h >> 16)) * 0x7FEB352Du;
    h = (h ^ (h >> 15)) * 0x846CA68Bu;
    return static_cast<float>((h ^ (h >> 16)) >> 8) / 0x1p23F - 1;
}

/// 64 samples whose f32 fields have the values of number_of().
class NumberedSamples final : public Dataset {
public:
    explicit NumberedSamples(Schema schema) : schema_(std::move(schema)) {}
    std::int64_t size() const override { return 64; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        for (std::size_t f = 0; f < schema_.fields.size(); ++f) {
            const auto values = out.f32(f);
            for (std::size_t e = 0; e < values.size(); ++e) values[e] = number_of(index, f, e);
        }
    }

private:
    Schema schema_;
};

/// A field with `size` numbers.
inline FieldSpec numbers(const std::string& name, std::int64_t size) {
    return {.name = name, .shape = {size}};
}

constexpr std::int64_t pair_width = 8;

/// A model of two linear layers, "first" and "second".
class PairModel final : public Model {
public:
    PairModel(std::int64_t seed, const Device& device)
        : Model(seed, device),
          first(registry_, "first", pair_width, pair_width),
          second(registry_, "second", pair_width, pair_width) {}
    TensorList forward(const TensorList& in) override {
        return {first(in.front()), second(in.front())};
    }
    /// The parameters of the first or of the second layer.
    std::vector<Parameter> parameters_of(std::size_t layer) const {
        const auto& all = parameters();
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(2 * layer);
        return {begin, begin + 2};
    }

    Linear first, second;
};

/// Has two optimizers: one for each layer of a PairModel.
class PairTask : public Task {
public:
    explicit PairTask(Schema schema) : schema_(std::move(schema)) {}
    const Schema& schema(bool) const override { return schema_; }
    ModelShape model_shape() const override { return {schema_.fields, pair_width}; }
    std::vector<std::vector<Parameter>> optimized(Model& model) const override {
        const auto& pair = dynamic_cast<const PairModel&>(model);
        return {pair.parameters_of(0), pair.parameters_of(1)};
    }

private:
    Schema schema_;
};

/// S19: two losses with gradients for both optimizers.
class TwoLosses final : public PairTask {
public:
    TwoLosses() : PairTask({{numbers("input", pair_width), numbers("target", pair_width)}}) {}
    std::vector<std::string> optimizer_names() const override { return {"", "second"}; }
    std::vector<Phase> phases() const override { return {{"", {0, 1}}}; }
    TensorList losses(TaskStep& step) override {
        const TensorList out = step.forward(TensorList{step.batch[0]});
        TensorList both = of(out[0], out[1], step.batch[1]);
        add_loss(step, both[0], step.batch.rows);
        return both;
    }
    static TensorList of(const Tensor& o0, const Tensor& o1, const Tensor& target) {
        return {mse_loss(add(mul(o0, 0.3), mul(o1, 0.7)), target),
                mse_loss(sub(mul(o0, 0.6), mul(o1, 0.4)), target)};
    }
};

/// A generator (the second layer) that makes pictures from noise, and a discriminator (the first
/// layer) that classifies them by the mean of its outputs. The generator's phase comes after the
/// discriminator's update and reuses its pictures.
class Adversaries final : public PairTask {
public:
    /// `keep_graph`: the discriminator's loss gets the pictures without detaching them.
    explicit Adversaries(bool keep_graph = false)
        : PairTask({{numbers("real", pair_width), numbers("noise", pair_width)}}),
          keep_graph_(keep_graph) {}
    std::vector<std::string> optimizer_names() const override {
        return {"discriminator", "generator"};
    }
    std::vector<Phase> phases() const override {
        return {{"discriminator", {0}, keep_graph_}, {"generator", {1}}};
    }
    TensorList losses(TaskStep& step) override {
        const auto& model = dynamic_cast<const PairModel&>(step.model());
        if (step.phase == 0) {
            const Tensor pictures = model.second(step.batch[1]);
            step.passed = {pictures};
            const Tensor shown = keep_graph_ ? pictures : pictures.detach();
            const Tensor loss = discriminator_loss(model, step.batch[0], shown);
            add_loss(step, loss, step.batch.rows);
            return {loss};
        }
        return {generator_loss(model, step.passed.front())};
    }
    static Tensor discriminator_loss(const PairModel& model, const Tensor& real,
                                     const Tensor& pictures) {
        return add(judged(model, real, 1), judged(model, pictures, 0));
    }
    static Tensor generator_loss(const PairModel& model, const Tensor& pictures) {
        return judged(model, pictures, 1);
    }

private:
    static Tensor judged(const PairModel& model, const Tensor& pictures, double truth) {
        const Tensor logits = model.first(pictures);
        return binary_cross_entropy_with_logits(
            logits, Tensor::full(logits.shape(), truth, DType::f32, logits.device()));
    }

    bool keep_graph_;
};

/// Calls a function before the update of the last phase of a step.
class BeforeLastUpdate final : public StepObserver {
public:
    explicit BeforeLastUpdate(std::function<void()> call) : call_(std::move(call)) {}
    void before_update(const StepView& step) override {
        if (step.phase + 1 == step.task.phases().size()) call_();
    }

private:
    std::function<void()> call_;
};

/// Batches, model and TrainStep of a task on one device.
struct StepFixture {
    StepFixture(RunConfig config_, std::unique_ptr<Task> task_, std::unique_ptr<Model> model_,
                const Device& device, std::shared_ptr<const Dataset> data_ = nullptr)
        : config(std::move(config_)),
          context(config, device),
          task(std::move(task_)),
          model(std::move(model_)),
          data{data_ ? std::move(data_) : std::make_shared<NumberedSamples>(task->schema(true))},
          feed(make_ring_feed(device, task->schema(true),
                              {.per_step = config.accumulate, .held = config.accumulate})),
          collator(data, task->schema(true), loader_options(config)) {
        const RunContext::Entry entered(context);
        step = std::make_unique<TrainStep>(config, *task, *model, device, 100);
    }

    /// Makes the batches of step `index` in `batches`.
    std::span<Batch> make(std::int64_t index) {
        batches.resize(static_cast<std::size_t>(config.accumulate));
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const std::int64_t number = index * config.accumulate + static_cast<std::int64_t>(i);
            collator.make(batches[i], number / collator.batches_per_epoch(),
                          number % collator.batches_per_epoch());
        }
        return batches;
    }
    BatchSupply supply() {
        return {[this](std::size_t i) { return feed->upload(batches[i]); },
                [this](const DeviceBatch& batch) { feed->used(batch); }};
    }
    /// Computes one eager step on `batches`.
    kernels::StepFigures compute() {
        const RunContext::Entry entered(context);
        step->observers().announce(++computed);
        step->compute(batches.size(), supply(), nullptr);
        return step->figures().host();
    }
    /// Sets the function that observes the next step, instead of the previous one; null: none.
    void before_last_update(std::function<void()> call) {
        if (observer) step->observers().detach(*observer);
        observer = call ? std::make_shared<BeforeLastUpdate>(std::move(call)) : nullptr;
        if (observer) step->observers().attach(observer);
        step->observers().announce(computed + 1);
    }
    std::vector<std::vector<double>> weights() const {
        std::vector<std::vector<double>> out;
        for (const Parameter& parameter : model->parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    RunConfig config;
    RunContext context;
    std::unique_ptr<Task> task;
    std::unique_ptr<Model> model;
    DataPart data;
    std::unique_ptr<TrainStep> step;
    std::unique_ptr<BatchFeed> feed;
    Collator collator;
    std::vector<Batch> batches;
    std::shared_ptr<BeforeLastUpdate> observer;
    std::int64_t computed = 0;
};

/// Settings for the tasks above.
inline RunConfig pair_run(const std::string& precision, std::int64_t accumulate = 1) {
    RunConfig config = small_run("mlp", precision);
    config.schedule.kind = "constant";
    config.batch_size = 8;
    config.accumulate = accumulate;
    config.scaler.init_scale = 128;
    config.scaler.growth_interval = 1;
    return completed(config);
}

template <class TaskType>
std::unique_ptr<StepFixture> pair_fixture(const RunConfig& config, const Device& device,
                                          std::unique_ptr<TaskType> task) {
    return std::make_unique<StepFixture>(config, std::move(task),
                                         std::make_unique<PairModel>(config.seed, device), device);
}

/// Sets an element of a gradient of the second layer to inf.
inline void spoil(const PairModel& model) {
    set_element(model.second.weight.grad(), 5, std::numeric_limits<double>::infinity());
}

/// Sets every number of a field of one batch to `value`.
inline void fill_field(Batch& batch, std::size_t field, float value) {
    std::ranges::fill(batch.fields[field].values<float>(), value);
}

}  // namespace engine::test
