#include <cmath>

#include "ops/loss/loss.h"
#include "tasks/task_descriptor.h"

namespace engine {
namespace {

/// Draws each image again. The loss is the mean squared error of pixels in [0, 1].
class Reconstruction final : public DescribedTask {
public:
    explicit Reconstruction(const TaskSetup& setup)
        : DescribedTask(setup, image_schemas(setup, pixels_from_zero)),
          image_(setup.data.index(setup.data.find(FieldKind::image)->name)) {}

    ModelShape model_shape() const override {
        return {.inputs = {field(image_)}, .output = field(image_).shape};
    }

    TensorList losses(TaskStep& step) override {
        const Tensor& image = step.batch[image_];
        const Tensor drawn = step.forward(image);
        const Tensor loss = mse_loss(drawn, image);
        if (!step.training()) step.predicted = drawn;
        add_loss(step, loss, step.batch.rows);
        return {loss};
    }

    void derive(const MetricSums& sums, std::span<double> values) const override {
        values[0] = std::sqrt(sums.loss / sums.weight);
    }
    PictureBands pictures(const TaskStep& step) const override {
        return {.bands = {step.batch[image_], step.predicted}};
    }

private:
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
            .metrics = {{.key = "rmse", .title = "RMSE", .higher_is_better = false}},
            .fits = fits_reconstruction,
            .make = new_task<Reconstruction>};
}

}  // namespace engine
