#include "train/make_optimizer.h"

#include "engine/error.h"
#include "optim/adagrad.h"
#include "optim/adamw.h"
#include "optim/lamb.h"
#include "optim/novograd.h"
#include "optim/sgd.h"

namespace engine {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& c,
                                          std::vector<Parameter> parameters,
                                          OptimizerOptions options) {
    options.larc.on = c.larc;
    options.larc.trust = c.larc_trust;
    options.larc.clip = c.larc_clip;
    if (c.kind == "sgd")
        return std::make_unique<Sgd>(std::move(parameters),
                                     SgdOptions{.lr = c.lr,
                                                .momentum = c.momentum,
                                                .weight_decay = c.weight_decay,
                                                .nesterov = c.nesterov},
                                     options);
    if (c.kind == "adam")
        return std::make_unique<Adam>(
            std::move(parameters),
            AdamOptions{c.lr, c.beta1, c.beta2, c.eps, c.weight_decay, c.amsgrad}, options);
    if (c.kind == "adamw")
        return std::make_unique<AdamW>(
            std::move(parameters),
            AdamWOptions{c.lr, c.beta1, c.beta2, c.eps, c.weight_decay, c.amsgrad}, options);
    if (c.kind == "lamb")
        return std::make_unique<Lamb>(std::move(parameters),
                                      LambOptions{.lr = c.lr,
                                                  .beta1 = c.beta1,
                                                  .beta2 = c.beta2,
                                                  .eps = c.eps,
                                                  .weight_decay = c.weight_decay,
                                                  .max_grad_norm = c.max_grad_norm,
                                                  .nvlamb = c.nvlamb},
                                      options);
    if (c.kind == "novograd")
        return std::make_unique<NovoGrad>(
            std::move(parameters),
            NovoGradOptions{
                .lr = c.lr,
                .beta1 = c.beta1,
                .beta2 = c.beta2,
                .eps = c.eps,
                .weight_decay = c.weight_decay,
                .norm = c.norm == "largest" ? kernels::NormKind::largest : kernels::NormKind::l2},
            options);
    if (c.kind == "adagrad")
        return std::make_unique<Adagrad>(
            std::move(parameters),
            AdagradOptions{.lr = c.lr,
                           .lr_decay = c.lr_decay,
                           .weight_decay = c.weight_decay,
                           .initial_accumulator_value = c.initial_accumulator_value,
                           .eps = c.eps},
            options);
    throw Error(ErrorCode::settings, "optimizer.kind: there is no optimizer " + c.kind);
}

std::int64_t optimizer_state_bytes(const OptimizerConfig& c, const ResolvedPrecision& precision) {
    constexpr std::int64_t f32 = 4, f16 = 2;
    if (c.kind == "sgd") {
        const bool low = precision.weights == "fp16" && !precision.master_weights;
        return c.momentum > 0 ? (low ? f16 : f32) : 0;
    }
    if (c.kind == "novograd" || c.kind == "adagrad") return f32;
    return (c.amsgrad && c.kind != "lamb" ? 3 : 2) * f32;
}

}  // namespace engine
