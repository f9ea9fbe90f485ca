#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "optim/optimizers.h"

namespace engine {

/// Makes the optimizer described by {"kind": "lamb", "lr": ..., ...}. The fields have the names of
/// the option structs. "larc": true wraps it in LARC, with "larc_clip" and "larc_trust".
inline std::unique_ptr<Optimizer> make_optimizer(const nlohmann::json& v,
                                                 const std::vector<Parameter>& parameters,
                                                 OptimizerOptions options = {}) {
    const auto set = [&](const char* name, auto& field) {
        if (v.contains(name)) v.at(name).get_to(field);
    };
    set("larc", options.larc.on);
    set("larc_clip", options.larc.clip);
    set("larc_trust", options.larc.trust);
    const auto set_adam = [&](auto& o) {
        set("lr", o.lr);
        set("beta1", o.beta1);
        set("beta2", o.beta2);
        set("eps", o.eps);
        set("weight_decay", o.weight_decay);
        set("bias_correction", o.bias_correction);
    };
    const std::string kind = v.at("kind");
    if (kind == "sgd") {
        SgdOptions o;
        set("lr", o.lr);
        set("momentum", o.momentum);
        set("dampening", o.dampening);
        set("weight_decay", o.weight_decay);
        set("nesterov", o.nesterov);
        set("decay_after_momentum", o.decay_after_momentum);
        return std::make_unique<Sgd>(parameters, o, options);
    }
    if (kind == "adam") {
        AdamOptions o;
        set_adam(o);
        set("amsgrad", o.amsgrad);
        return std::make_unique<Adam>(parameters, o, options);
    }
    if (kind == "adamw") {
        AdamOptions o{.weight_decay = 0.01, .decoupled = true};
        set_adam(o);
        set("amsgrad", o.amsgrad);
        return std::make_unique<Adam>(parameters, o, options);
    }
    if (kind == "adagrad") {
        AdagradOptions o;
        set("lr", o.lr);
        set("lr_decay", o.lr_decay);
        set("weight_decay", o.weight_decay);
        set("initial_accumulator_value", o.initial_accumulator_value);
        set("eps", o.eps);
        set("decoupled", o.decoupled);
        return std::make_unique<Adagrad>(parameters, o, options);
    }
    if (kind == "lamb") {
        LambOptions o;
        set_adam(o);
        set("decoupled", o.decoupled);
        set("average_gradients", o.average_gradients);
        set("max_grad_norm", o.max_grad_norm);
        set("nvlamb", o.nvlamb);
        return std::make_unique<Lamb>(parameters, o, options);
    }
    if (kind == "novograd") {
        NovoGradOptions o;
        set_adam(o);
        set("average_gradients", o.average_gradients);
        if (v.value("norm", "l2") == "largest") o.norm = kernels::NormKind::largest;
        set("init_zero", o.init_zero);
        set("regularise_inside", o.regularise_inside);
        return std::make_unique<NovoGrad>(parameters, o, options);
    }
    if (kind == "sparse_adam") {
        AdamOptions o;
        set("lr", o.lr);
        set("beta1", o.beta1);
        set("beta2", o.beta2);
        set("eps", o.eps);
        return std::make_unique<SparseAdam>(parameters, o, options);
    }
    throw std::invalid_argument("no optimizer " + kind);
}

}  // namespace engine
