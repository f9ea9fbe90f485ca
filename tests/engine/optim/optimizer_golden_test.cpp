#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "golden.h"
#include "json_optimizer.h"
#include "optim_support.h"
#include "support/element.h"
#include "support/grad_scaler.h"

// Compares SGD, Adam, AdamW, Adagrad and GradScaler with PyTorch's, from the file that
// tests/peer/optim_golden.py writes.

namespace engine {
namespace {

using nlohmann::json;

constexpr int golden_updates = 20;
constexpr int tensors = 2;

std::vector<Parameter> start_weights(const Golden& golden, DType dtype) {
    std::vector<Parameter> parameters;
    for (int k = 0; k < tensors; ++k) {
        const Tensor start = golden.tensor("w." + std::to_string(k));
        Tensor w = Tensor::of(start.values(), start.shape(), dtype);
        w.set_requires_grad(true);
        parameters.push_back({"w" + std::to_string(k), w});
    }
    return parameters;
}

Tensor gradient(const Golden& golden, int update, int k, DType dtype, double scale = 1) {
    const Tensor g = golden.tensor("g." + std::to_string(update) + "." + std::to_string(k));
    auto values = g.values();
    for (auto& value : values) value *= scale;
    return Tensor::of(values, g.shape(), dtype);
}

/// Values reach a magnitude of 8. In 20 updates either side rounds at most 10 times per update, by
/// half a unit each. A momentum buffer amplifies the error of an update by up to 1 / (1 - 0.9) =
/// 10, of which a 16th (lr) reaches the weight.
double tolerance_of(DType dtype) {
    const double half_unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
    return 2 * golden_updates * 10 * 8 * half_unit;
}

TEST(OptimizerGolden, FollowsPyTorchOver20Updates) {
    const Golden golden;
    for (const json& variant : golden.setting("variants")) {
        for (const DType dtype : {DType::f32, DType::f64}) {
            const std::string prefix =
                variant.at("name").get<std::string>() + "." + name(dtype) + ".";
            const double tolerance = tolerance_of(dtype);
            const auto parameters = start_weights(golden, dtype);
            const auto optimizer = make_optimizer(variant, parameters);
            for (int update = 0; update < golden_updates; ++update) {
                for (int k = 0; k < tensors; ++k)
                    parameters[static_cast<std::size_t>(k)].tensor.set_grad(
                        gradient(golden, update, k, dtype));
                optimizer->step();
                if (update > 0) continue;
                for (int k = 0; k < tensors; ++k)
                    expect_near(parameters[static_cast<std::size_t>(k)].tensor,
                                golden.tensor(prefix + "first." + std::to_string(k)),
                                tolerance / golden_updates, prefix + "first");
            }
            for (int k = 0; k < tensors; ++k) {
                const auto at = static_cast<std::size_t>(k);
                expect_near(parameters[at].tensor, golden.tensor(prefix + "w." + std::to_string(k)),
                            tolerance, prefix + "w");
                for (const auto& [state, value] : optimizer->state(at)) {
                    expect_near(value, golden.tensor(prefix + state + "." + std::to_string(k)),
                                tolerance, prefix + state);
                }
            }
        }
    }
}

TEST(OptimizerGolden, HasTheStateThatPyTorchHas) {
    const Golden golden;
    for (const json& variant : golden.setting("variants")) {
        const auto parameters = start_weights(golden, DType::f32);
        const auto optimizer = make_optimizer(variant, parameters);
        for (const auto& parameter : parameters)
            parameter.tensor.set_grad(Tensor::zeros(parameter.tensor.shape(), DType::f32));
        optimizer->step();
        const std::string prefix = variant.at("name").get<std::string>() + ".f32.";
        std::size_t expected = 0;
        for (const char* state :
             {"momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "sum"})
            expected += golden.has(prefix + state + ".0") ? 1 : 0;
        EXPECT_EQ(optimizer->state(0).size(), expected) << prefix;
    }
}

bool contains(const json& updates_of, int update) {
    return std::find(updates_of.begin(), updates_of.end(), update) != updates_of.end();
}

/// The golden file's run named `late`.
void run_late(const Golden& golden, const std::vector<Parameter>& parameters, Optimizer& optimizer,
              DType dtype) {
    const json late = golden.setting("late");
    GradScaler scaler({.init_scale = golden.setting("scaler").at("init_scale")});
    scaler.scale(Tensor::zeros({}, DType::f32));
    for (int update = 0; update < golden_updates; ++update) {
        for (int k = 0; k < tensors; ++k)
            parameters[static_cast<std::size_t>(k)].tensor.set_grad(
                gradient(golden, update, k, dtype, scaler.loss_scale()));
        if (contains(late.at("absent"), update)) parameters[1].tensor.set_grad({});
        if (contains(late.at("spoiled"), update))
            set_element(parameters[0].tensor.grad(), 2, std::numeric_limits<double>::infinity());
        scaler.step(optimizer);
        scaler.update();
    }
}

TEST(OptimizerGolden, StartsAndCountsByParameterAsPyTorchDoesWithSkipsBetween) {
    const Golden golden;
    for (const json& variant : golden.setting("variants")) {
        for (const DType dtype : {DType::f32, DType::f64}) {
            for (const bool aware : {false, true}) {
                const std::string prefix =
                    "late." + variant.at("name").get<std::string>() + "." + name(dtype) + ".";
                const auto parameters = start_weights(golden, dtype);
                const auto optimizer =
                    make_optimizer(variant, parameters, {.scaling_aware = aware});
                run_late(golden, parameters, *optimizer, dtype);
                const TensorMap saved = optimizer->saved_state();
                for (int k = 0; k < tensors; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    const std::string number = "." + std::to_string(k);
                    expect_near(parameters[at].tensor, golden.tensor(prefix + "w" + number),
                                tolerance_of(dtype), prefix + "w");
                    for (const auto& [state, value] : optimizer->state(at))
                        expect_near(value, golden.tensor(prefix + state + number),
                                    tolerance_of(dtype), prefix + state);
                    if (!golden.has(prefix + "step" + number)) continue;
                    EXPECT_EQ(saved.at(parameters[at].name + ".step").item(),
                              golden.tensor(prefix + "step" + number).item())
                        << prefix << number;
                }
            }
        }
    }
}

TEST(GradScalerGolden, FollowsPyTorchsScaleAndSkips) {
    const Golden golden;
    const json scaler_settings = golden.setting("scaler");
    const json spoiled = scaler_settings.at("spoiled");
    for (const json& variant : golden.setting("variants")) {
        for (const bool aware : {false, true}) {
            const std::string prefix = "scaled." + variant.at("name").get<std::string>() + ".";
            const auto parameters = start_weights(golden, DType::f32);
            const auto optimizer = make_optimizer(variant, parameters, {.scaling_aware = aware});
            GradScaler scaler({.init_scale = scaler_settings.at("init_scale"),
                               .growth_factor = scaler_settings.at("growth_factor"),
                               .backoff_factor = scaler_settings.at("backoff_factor"),
                               .growth_interval = scaler_settings.at("growth_interval")});
            scaler.scale(Tensor::zeros({}, DType::f32));
            const auto scales = golden.tensor(prefix + "scales").values();
            for (int update = 0; update < golden_updates; ++update) {
                for (int k = 0; k < tensors; ++k)
                    parameters[static_cast<std::size_t>(k)].tensor.set_grad(
                        gradient(golden, update, k, DType::f32, scaler.loss_scale()));
                if (contains(spoiled, update))
                    set_element(parameters[1].tensor.grad(), 2 * 4 + 1,
                                std::numeric_limits<double>::infinity());
                scaler.step(*optimizer);
                scaler.update();
                ASSERT_EQ(scaler.loss_scale(), scales[static_cast<std::size_t>(update)])
                    << prefix << " update " << update;
            }
            EXPECT_EQ(optimizer->steps(),
                      golden_updates - static_cast<std::int64_t>(spoiled.size()));
            for (int k = 0; k < tensors; ++k)
                expect_near(parameters[static_cast<std::size_t>(k)].tensor,
                            golden.tensor(prefix + "w." + std::to_string(k)),
                            tolerance_of(DType::f32), prefix + "w");
        }
    }
}

}  // namespace
}  // namespace engine
