#include "engine/catalog.h"

namespace engine {

std::span<const PrecisionInfo> precisions() {
    // The rows of product.md, section 1, that this version runs.
    static const std::vector<PrecisionInfo> infos = {
        {"fp32",
         "FP32",
         "Everything in 32-bit floats: the baseline that the other precisions are judged by.",
         {"fp32", "off", "fp32", false, "off"}},
        {"tf32",
         "TF32",
         "Matrix products of 32-bit floats in TensorFloat-32: the range of fp32 with 10 bits of "
         "precision, on NVIDIA GPUs from Ampere on.",
         {"fp32", "off", "fp32", false, "off", true}},
        {"amp-fp16",
         "AMP FP16",
         "Matrix products and convolutions run in 16-bit floats, weights stay in fp32, and the "
         "loss is "
         "scaled so that small gradients survive.",
         {"fp32", "fp16", "fp32", false, "dynamic"}},
        {"amp-bf16",
         "AMP BF16",
         "As AMP FP16, but in bfloat16: the range of fp32 with 8 bits of precision, so no loss "
         "scaling is needed.",
         {"fp32", "bf16", "fp32", false, "off"}},
        {"o2-fp16",
         "O2 FP16",
         "The model itself in 16-bit floats, with batch norm and a master copy of the weights in "
         "fp32, and the loss scaled: nearly everything is half the size.",
         {"fp16", "off", "fp32", true, "dynamic"}},
        {"pure-fp16",
         "Pure FP16",
         "Weights, batch norm and updates in fp16 as well, without loss scaling: shows what breaks "
         "without mixed precision.",
         {"fp16", "off", "fp16", false, "off"}},
    };
    return infos;
}

std::span<const ScalerPresetInfo> scaler_presets() {
    static const std::vector<ScalerPresetInfo> infos = [] {
        ScalerConfig classroom;
        classroom.preset = "classroom";
        classroom.growth_interval = 25;
        return std::vector<ScalerPresetInfo>{
            {"production", "Production",
             "The values of PyTorch: the scale doubles after 2000 steps in a row without overflow.",
             ScalerConfig{}},
            {"classroom", "Classroom",
             "The scale doubles after only 25 clean steps, so that growth and overflow can be "
             "watched "
             "in a short run; not for production, where it would skip too many steps.",
             classroom},
        };
    }();
    return infos;
}

std::span<const OptimizerInfo> optimizers() {
    static const std::vector<OptimizerInfo> infos = [] {
        const auto with = [](double lr, double weight_decay, double eps, double beta1 = 0.9,
                             double beta2 = 0.999) {
            OptimizerConfig c;
            c.lr = lr;
            c.weight_decay = weight_decay;
            c.eps = eps;
            c.beta1 = beta1;
            c.beta2 = beta2;
            return c;
        };
        std::vector<OptimizerInfo> all = {
            {"sgd",
             "SGD",
             "Steps along the gradient, smoothed by momentum: the usual choice for image models.",
             {"lr", "momentum", "nesterov", "weight_decay", "larc", "larc_trust", "larc_clip"},
             OptimizerConfig{}},
            {"adam",
             "Adam",
             "Gives every weight its own step size from the history of its gradients; decay acts "
             "through the gradient.",
             {"lr", "beta1", "beta2", "eps", "weight_decay", "amsgrad", "larc", "larc_trust",
              "larc_clip"},
             with(0.001, 0, 1e-8)},
            {"adamw",
             "AdamW",
             "Gives every weight its own step size from the history of its gradients, with decay "
             "apart from the gradient: good without much tuning.",
             {"lr", "beta1", "beta2", "eps", "weight_decay", "amsgrad", "larc", "larc_trust",
              "larc_clip"},
             with(0.001, 0.01, 1e-8)},
            {"lamb",
             "LAMB",
             "Adam's direction at a rate that follows the size of each layer's weights: for very "
             "large batches.",
             {"lr", "beta1", "beta2", "eps", "weight_decay", "max_grad_norm", "nvlamb", "larc",
              "larc_trust", "larc_clip"},
             with(0.01, 0.01, 1e-6)},
            {"novograd",
             "NovoGrad",
             "Divides each layer's gradient by the running size of it: Adam with one number a "
             "layer in place of one a weight.",
             {"lr", "beta1", "beta2", "eps", "weight_decay", "norm", "larc", "larc_trust",
              "larc_clip"},
             with(0.1, 0, 1e-8, 0.95, 0.98)},
            {"adagrad",
             "Adagrad",
             "Lets every weight's rate fall with the sum of its squared gradients: good for rare "
             "features.",
             {"lr", "eps", "weight_decay", "lr_decay", "initial_accumulator_value", "larc",
              "larc_trust", "larc_clip"},
             with(0.01, 0, 1e-10)},
        };
        for (OptimizerInfo& info : all) info.defaults.kind = info.kind;
        return all;
    }();
    return infos;
}

}  // namespace engine
