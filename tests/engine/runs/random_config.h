#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Random valid settings.
inline RunConfig random_config(std::mt19937& random) {
    const auto pick = [&random](std::initializer_list<const char*> names) {
        return std::string(names.begin()[random() % names.size()]);
    };
    const auto real = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto flag = [&random] { return random() % 2 == 0; };
    const auto draw_options = [&](std::span<const OptionSpec> specs, Options& options) {
        for (const OptionSpec& spec : specs) {
            OptionValue& value = options[spec.name] = spec.default_value;
            if (auto* on = std::get_if<bool>(&value)) *on = flag();
            if (auto* number = std::get_if<double>(&value))
                *number = real(spec.lowest + 0.001, std::min(spec.highest, 9.0));
            if (auto* word = std::get_if<std::string>(&value))
                *word = spec.choices[random() % spec.choices.size()].value;
        }
    };
    const auto word = [&]<typename E>(std::optional<E>& field) {
        if (flag()) field = setting_words<E>[random() % setting_words<E>.size()].value;
    };
    RunConfig c;
    c.dataset.kind = pick({"glyphs", "mnist", "fashion-mnist", "cifar10", "cifar100"});
    c.dataset.path.assign(1 + random() % 3, pick({"/a \"quoted\" path", "雪/data", "x"}));
    c.dataset.augment = flag();
    c.dataset.normalize = flag();
    c.dataset.train_limit = static_cast<std::int64_t>(random());
    c.dataset.order = pick({"", "order.txt"});
    c.model.kind = pick({"mlp", "lenet"});
    c.model.init_from = pick({"", "w.safetensors"});
    if (!c.model.init_from.empty()) c.model.init_key = pick({"", "ema", "nets.0"});
    c.precision.preset = pick({"fp32", "amp-fp16", "amp-bf16"});
    word(c.precision.scaler);
    word(c.precision.autocast);
    if (flag()) c.precision.master_weights = false;
    c.scaler.preset = pick({"production", "classroom"});
    c.scaler.init_scale = real(1, 1e9);
    c.scaler.growth_factor = real(1.001, 9);
    c.scaler.backoff_factor = real(0.001, 0.999);
    c.scaler.growth_interval = 1 + static_cast<std::int64_t>(random() % 10'000);
    c.optimizer.kind = pick({"sgd", "adam", "adamw", "lamb", "novograd", "adagrad"});
    for (const auto& optimizer : optimizers())
        if (optimizer.kind == c.optimizer.kind)
            draw_options(optimizer.options, c.optimizer.options);
    c.schedule.kind = pick({"constant", "cosine", "step", "multi-step", "one-cycle", "polynomial", "plateau"});
    c.early_stopping = {static_cast<std::int64_t>(random() % 9), real(0, 1)};
    c.evaluation = {static_cast<std::int64_t>(random() % 9), static_cast<std::int64_t>(random() % 3)};
    if (c.early_stopping.patience > 0 || c.schedule.kind == "plateau")  // they wait for ends of epochs
        c.evaluation.every_epochs += 1;
    c.instruments = {static_cast<std::int64_t>(random() % 100), flag()};
    c.clip = {setting_words<ClipKind>[random() % 3].value, real(1e-6, 100)};
    c.batch_size = 1 + static_cast<std::int64_t>(random() % 1000);
    c.seed = static_cast<std::int64_t>(random()) << 30;
    c.device = pick({"auto", "cpu", "cuda", "cuda:3"});
    c.deterministic = flag();
    c.teach.clip_before_unscale = flag();
    c.teach.norm = flag() ? TeachNorm::composed : TeachNorm::intact;
    c.teach.norm_epsilon = real(0, 1);
    c.teach.boxes = flag() ? TeachBoxes::low : TeachBoxes::intact;
    c.teach.plant = {setting_words<PlantKind>[random() % 12].value,  // the last one requires Adam
                     1 + static_cast<std::int64_t>(random() % 99), pick({"", "fc1.weight:3"})};
    return completed(c);  // as after reading
}

}  // namespace engine
