#include <cmath>

#include "ops/loss/loss.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// Draws each image again. The loss is the mean squared error of pixels in [0, 1].
class Reconstruction final : public Task {
public:
    explicit Reconstruction(const TaskSetup& setup)
        : schemas_(image_schemas(setup, pixels_from_zero)),
          image_(setup.data.index(setup.data.find(FieldKind::image)->name)) {}

    const Schema& schema(bool training) const override {
        return training ? schemas_.training : schemas_.evaluation;
    }
    ModelShape model_shape() const override {
        const FieldSpec& image = schemas_.evaluation.fields[image_];
        return {.inputs = {image}, .output = image.shape};
    }

    TensorList losses(TaskStep& step) override {
        const Tensor& image = step.batch[image_];
        const Tensor drawn = step.forward(image);
        const Tensor loss = mse_loss(drawn, image);
        if (!step.training()) step.predicted = drawn;
        add_loss(step, loss, step.batch.rows);
        return {loss};
    }

    std::vector<Metric> metrics() const override { return metric_list(); }
    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = std::sqrt(sums.loss / sums.weight);
    }
    PictureBands pictures(const TaskStep& step) const override {
        return {.bands = {step.batch[image_], step.predicted}};
    }

    static const std::vector<Metric>& metric_list() {
        static const std::vector<Metric> metrics = {
            {.key = "rmse", .title = "RMSE", .higher_is_better = false}};
        return metrics;
    }

private:
    TaskSchemas schemas_;
    std::size_t image_;
};

bool fits_reconstruction(const Schema& data, const ModelDescriptor& model) {
    return model.output == ModelOutput::image && data.find(FieldKind::image) != nullptr;
}

}  // namespace

TaskDescriptor reconstruction_descriptor() {
    return {.kind = "autoencoder",
            .title = "Reconstruction",
            .summary = "Reconstructs each image from a short code.",
            .metrics = Reconstruction::metric_list(),
            .fits = fits_reconstruction,
            .make = new_task<Reconstruction>};
}

}  // namespace engine
