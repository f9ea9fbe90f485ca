#include "train/teach/broken_scaler.h"

namespace engine {
namespace {

class BrokenScaler final : public LossScaler {
public:
    BrokenScaler(const RunConfig& config, const Device& device)
        : LossScaler(resolve(config.precision).scaler, config.scaler, device),
          teach_(config.teach) {}

    /// Clips as if the gradients were unscaled.
    Tensor clip_scale() const override {
        return teach_.clip_before_unscale ? Tensor() : LossScaler::clip_scale();
    }
    /// Imitates a loop that calls scaler.update() in each micro-batch: the gradients so far have
    /// the old scale, the later ones the new one.
    void after_micro_batch(const std::function<TensorList()>& check) override {
        if (teach_.update_each_micro_batch && is_dynamic()) move_by(check());
    }
    void load_state(const kernels::ScaleState& saved) override {
        if (!teach_.resume_without_scaler) LossScaler::load_state(saved);
    }

private:
    TeachConfig teach_;
};

}  // namespace

std::unique_ptr<LossScaler> make_broken_scaler(const RunConfig& config, const Device& device) {
    const TeachConfig& teach = config.teach;
    if (!teach.clip_before_unscale && !teach.update_each_micro_batch &&
        !teach.resume_without_scaler)
        return nullptr;
    return std::make_unique<BrokenScaler>(config, device);
}

}  // namespace engine
