#include "data/schema.h"
#include "models/model.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/binary.h"
#include "tasks/task_descriptor.h"
#include "tensor/philox.h"

namespace engine {
namespace {

/// Fills a field with standard normal numbers of the run's seed: in training different ones for
/// each sample of each epoch, in evaluation always the same.
class DrawLatent final : public SampleTransform {
public:
    explicit DrawLatent(bool training) : training_(training) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    bool training_;
};

void DrawLatent::apply(const SampleFields& sample, std::size_t field,
                       const SamplePlace& place) const {
    // Substream 0 is the evaluation's.
    const auto substream = training_ ? static_cast<std::uint32_t>(place.epoch) + 1 : 0;
    const RandomStream stream(place.seed, StreamId::task, substream);
    const std::span<float> values = sample.f32(field);
    const std::uint64_t first = place.position * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(first + i);
}

/// The field "latent" with `width` numbers per sample.
FieldSpec latent_field(std::int64_t width, bool training) {
    return {
        .name = "latent", .shape = {width}, .transforms = {std::make_shared<DrawLatent>(training)}};
}

/// The discriminator learns to distinguish the generator's images from real ones, then the
/// generator learns to draw images that it classifies as real, as in Goodfellow et al. (2014) with
/// the non-saturating loss. The loss of a step is the discriminator's.
class Gan final : public DescribedTask {
public:
    explicit Gan(const TaskSetup& setup)
        : DescribedTask(setup, image_schemas(setup, pixels_around_zero)),
          image_(setup.data.index(setup.data.find(FieldKind::image)->name)) {
        const auto model = model_descriptor(setup.config.model);
        const TypedOptions options(setup.config.model.options, model->options);
        latent_ = schemas_.training.add(latent_field(options.integer("latent"), true));
        schemas_.evaluation.add(latent_field(options.integer("latent"), false));
    }

    ModelShape model_shape() const override {
        return {.inputs = {field(latent_)}, .output = field(image_).shape};
    }

    std::vector<std::vector<Parameter>> optimized(Model& model) const override {
        std::vector<std::vector<Parameter>> parts(2);
        for (const Parameter& parameter : model.parameters())
            parts[parameter.name.starts_with("discriminator.") ? 0 : 1].push_back(parameter);
        return parts;
    }
    std::vector<std::string> optimizer_names() const override {
        return {"discriminator", "generator"};
    }
    std::vector<Phase> phases() const override {
        return {{"discriminator", {0}}, {"generator", {1}}};
    }

    TensorList losses(TaskStep& step) override {
        return step.phase == 0 ? discriminator_losses(step) : generator_losses(step);
    }
    void evaluate(TaskStep& step) override {
        discriminator_losses(step);
        step.predicted = step.passed.front();
        generator_losses(step);
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = sums.values[0] / sums.weight;
    }
    PictureBands pictures(const TaskStep& step) const override {
        return {{step.predicted}, pixels_around_zero.black, pixels_around_zero.white};
    }
    bool has_best() const override { return false; }

private:
    TensorList discriminator_losses(TaskStep& step) {
        const Tensor drawn = step.forward(step.batch[latent_]);
        const Tensor real = real_or_fake_loss(step, step.batch[image_], 1);
        const Tensor fake = real_or_fake_loss(step, drawn.detach(), 0);
        step.passed = {drawn};
        add_loss(step, add(real.detach(), fake.detach()), step.batch.rows);
        return {real, fake};
    }
    TensorList generator_losses(TaskStep& step) {
        const Tensor loss = real_or_fake_loss(step, step.passed.front(), 1);
        add_mean(step, 0, loss, step.batch.rows);
        return {loss};
    }
    /// Cross entropy of the discriminator's answers with 1 (real) or 0.
    static Tensor real_or_fake_loss(TaskStep& step, const Tensor& images, double wanted) {
        const auto answers = [&](const TensorList& in) {
            return TensorList{dynamic_cast<AdversarialModel&>(step.model()).discriminate(in[0])};
        };
        const Tensor logits = step.with_casts({images}, answers).front();
        const Tensor target = Tensor::full(logits.shape(), wanted, logits.dtype(), logits.device());
        return binary_cross_entropy_with_logits(logits, target);
    }

    std::size_t image_, latent_ = 0;
};

bool fits_gan(const Schema& data, const ModelDescriptor& model) {
    return model.output == ModelOutput::generated && data.find(FieldKind::image) != nullptr;
}

}  // namespace

TaskDescriptor gan_descriptor() {
    return {.kind = "gan",
            .title = "Adversarial pair",
            .summary = "A network learns to draw images that another takes for real.",
            .metrics = {{.key = "generator_loss",
                         .title = "Generator loss",
                         .higher_is_better = false}},
            .fits = fits_gan,
            .make = new_task<Gan>};
}

}  // namespace engine
