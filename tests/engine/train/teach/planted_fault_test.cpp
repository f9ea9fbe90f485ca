#include "train/teach/planted_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/detection_run.h"
#include "support/expectations.h"
#include "tensor/observer.h"
#include "trained_steps.h"

namespace engine {
namespace {

using test::changed;
using test::TrainedSteps;
using testing::HasSubstr;

bool all_finite(const Tensor& tensor) {
    if (!tensor.defined() || !is_floating(tensor.dtype())) return true;
    return std::ranges::all_of(tensor.values(), [](double v) { return std::isfinite(v); });
}

/// Finds the first non-finite number of a step: in an input of the first op, an op's output, or a
/// gradient.
class FirstFault final : public StepObserver, public OpObserver {
public:
    struct Found {
        std::int64_t step = 0;
        std::string place;  ///< "state", "batch", "forward", "backward"
        std::string op, module;
        DType dtype = DType::f32;
    };
    std::optional<Found> found;

    void begin(const StepView& step) override {
        step_ = step.step;
        attached_.emplace(*this);
    }
    void before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) override {
        for (const Parameter& each : step.model.parameters()) {
            if (!all_finite(each.tensor))
                note({step_, "state", each.name, {}, each.tensor.dtype()});
        }
        for (const Tensor& field : batch.fields) {
            if (!all_finite(field)) note({step_, "batch", {}, {}, field.dtype()});
        }
        for (const Tensor& each : state) {
            if (!all_finite(each)) note({step_, "carried", {}, {}, each.dtype()});
        }
    }
    void on_op(const OpEvent& event) override {
        // Masks contain -inf on purpose.
        const std::string op(event.info->name);
        if (op == "attention_causal" || op == "where") return;
        if (found || !std::ranges::all_of(event.inputs, all_finite)) return;
        for (const Tensor& out : event.outputs) {
            if (!all_finite(out))
                note({step_, event.in_backward ? "backward" : "forward", op, current_module(),
                      out.dtype()});
        }
    }
    void end(const StepView&) override { attached_.reset(); }

private:
    void note(const Found& fault) {
        if (!found) found = fault;
    }
    std::int64_t step_ = 0;
    std::optional<ObserverScope> attached_;
};

constexpr std::int64_t planted_step = 3;

std::vector<std::string> plant(const std::string& kind, const std::string& where = {}) {
    return {"teach.plant.kind=" + kind, "teach.plant.step=" + std::to_string(planted_step),
            "teach.plant.where=" + where};
}

RunConfig small(const std::string& model, const std::string& precision) {
    if (model == "transformer-lm") return test::small_transformer_run(precision);
    if (model == "rnn-lm") return test::small_text_run(precision);
    if (model == "maskrcnn-resnet18") return test::small_detection_run(precision);
    return test::small_run(model, precision);
}

struct Planted {
    const char* kind;
    const char* where;
    const char* model;
    const char* precision;
    // The expected findings.
    const char* place;
    const char* op;
    const char* module;
};

std::string name_of(const testing::TestParamInfo<Planted>& tested) {
    const Planted& p = tested.param;
    std::string name = std::string(p.kind) + "_" + p.model + "_" + p.precision;
    std::ranges::replace(name, '-', '_');
    return name;
}

class EachPlant : public testing::TestWithParam<Planted> {};

TEST_P(EachPlant, LeadsToANonFiniteValueAtItsPlaceAtItsStepAndNowhereBefore) {
    const Planted& p = GetParam();
    TrainedSteps run(changed(small(p.model, p.precision), plant(p.kind, p.where)));
    const auto fault = std::make_shared<FirstFault>();
    run.trainer().attach(fault);
    for (std::int64_t step = 1; step < planted_step; ++step) {
        const StepRecord row = run.step();
        EXPECT_TRUE(std::isfinite(row.loss));
        EXPECT_FALSE(fault->found) << "step " << step << ": " << fault->found->op;
    }
    run.step();
    ASSERT_TRUE(fault->found);
    EXPECT_EQ(fault->found->step, planted_step);
    EXPECT_EQ(fault->found->place, p.place);
    if (*p.op != '\0') {
        EXPECT_EQ(fault->found->op, p.op);
    }
    if (*p.module != '\0') {
        EXPECT_EQ(fault->found->module, p.module);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Planted, EachPlant,
    testing::Values(
        Planted{"nan-pixel", "", "lenet", "amp-fp16", "batch", "", ""},
        Planted{"nan-pixel", "5", "mlp", "fp32", "batch", "", ""},
        Planted{"nan-pixel", "1", "maskrcnn-resnet18", "fp32", "batch", "", ""},
        Planted{"nan-weight", "", "mlp", "amp-fp16", "state", "fc1.weight", ""},
        Planted{"nan-weight", "fc2.weight:7", "lenet", "o2-fp16", "state", "fc2.weight", ""},
        Planted{"nan-embedding-row", "", "transformer-lm", "amp-fp16", "state",
                "transformer.wte.weight", ""},
        Planted{"nan-embedding-row", "transformer.wte.weight:2", "transformer-lm", "fp32", "state",
                "transformer.wte.weight", ""},
        Planted{"nan-carried-state", "", "rnn-lm", "amp-fp16", "carried", "", ""},
        Planted{"log-of-zero", "", "mlp", "amp-fp16", "forward", "log", "teach.plant"},
        Planted{"zero-norm", "", "mlp", "amp-fp16", "forward", "div", "teach.plant"},
        Planted{"sqrt-at-zero", "", "mlp", "fp32", "backward", "", "teach.plant"},
        Planted{"exp-12", "", "mlp", "amp-fp16", "forward", "exp", "teach.plant"},
        Planted{"exp-12", "", "mlp", "fp32", "forward", "exp", "teach.plant"},
        Planted{"sum-of-ones", "", "mlp", "amp-bf16", "forward", "sum", "teach.plant"},
        Planted{"scale-attention", "", "transformer-lm", "amp-fp16", "forward", "mul", ""}),
    name_of);

TEST(PlantedFault, TheTargetOfARegressionIsInfiniteInOneStep) {
    const Schema schema{{{.name = "x", .kind = FieldKind::features, .shape = {2}},
                         {.name = "y", .kind = FieldKind::value, .shape = {1}}}};
    TrainedSteps run(test::small_run("mlp", "fp32"));
    PlantedFault fault({PlantKind::inf_target, 1, "2"}, schema, run.trainer().model());
    DeviceBatch batch{{Tensor::zeros({4, 2}, DType::f32), Tensor::zeros({4, 1}, DType::f32)}, 4, 4};
    const Tensor given = batch[1];
    struct Call final : StepObserver {
        std::function<void(const StepView&)> f;
        void begin(const StepView& view) override { f(view); }
    };
    const auto call = std::make_shared<Call>();
    call->f = [&](const StepView& view) {
        TensorList state;
        fault.before_forward(view, batch, state);
    };
    run.trainer().attach(call);
    run.step();
    EXPECT_EQ(batch[1].values()[2], INFINITY);
    expect_same(given.values(), {0, 0, 0, 0});
}

TEST(PlantedFault, AdamWithEpsilon0MakesNaNOfAWeightWhoseGradientsWere0) {
    const auto settings = [](const std::string& kind) {
        std::vector<std::string> changes = plant("adam-epsilon-zero", "fc2.bias");
        changes.insert(changes.end(), {"optimizer.kind=" + kind, "optimizer.weight_decay=0"});
        return changed(test::small_run("mlp", "fp32"), changes);
    };
    for (const char* kind : {"adam", "adamw"}) {
        SCOPED_TRACE(kind);
        TrainedSteps run(settings(kind));
        const auto before = run.parameter("fc2.bias").values();
        run.steps(planted_step - 1);
        EXPECT_EQ(run.parameter("fc2.bias").values(), before) << "its gradients are 0";
        EXPECT_TRUE(all_finite(run.parameter("fc2.weight")));
        const StepRecord row = run.step();
        EXPECT_TRUE(std::isfinite(row.loss)) << "the forward pass is not to blame";
        EXPECT_TRUE(std::ranges::all_of(run.parameter("fc2.bias").values(),
                                        [](double v) { return std::isnan(v); }));
    }
}

TEST(PlantedFault, TheStepsBeforeItAreThoseOfARunWithoutIt) {
    const RunConfig plain = test::small_run("lenet", "amp-fp16");
    TrainedSteps intact(plain), planted(changed(plain, plant("exp-12")));
    for (int i = 1; i < planted_step; ++i) {
        EXPECT_EQ(intact.step().loss, planted.step().loss);
        EXPECT_EQ(intact.weights(), planted.weights());
    }
    EXPECT_EQ(planted.step().found_inf, 1);
    EXPECT_EQ(intact.step().found_inf, 0);
    EXPECT_TRUE(std::isfinite(planted.step().loss)) << "the next step is an ordinary one";
}

TEST(PlantedFault, IsRefusedWhereItFitsNothing) {
    const auto error = [](const RunConfig& base, const std::vector<std::string>& changes) {
        return message_of(ErrorCode::settings,
                          [&] { TrainedSteps(changed(base, changes)).steps(planted_step); });
    };
    const RunConfig mlp = test::small_run("mlp", "fp32"), text = test::small_text_run("fp32");
    EXPECT_THAT(error(text, plant("nan-pixel")), HasSubstr("no pixels"));
    EXPECT_THAT(error(mlp, plant("nan-pixel", "first")), HasSubstr("position of a sample"));
    EXPECT_THAT(error(mlp, plant("nan-pixel", "16")), HasSubstr("the batch has 16 samples"));
    EXPECT_THAT(error(mlp, plant("inf-target")), HasSubstr("only numbers"));
    EXPECT_THAT(error(mlp, plant("nan-weight", "fc7.weight")), HasSubstr("no such parameter"));
    EXPECT_THAT(error(mlp, plant("nan-weight", "fc1.weight:x")), HasSubstr("name or name:row"));
    EXPECT_THAT(error(mlp, plant("nan-weight", "fc1.bias:100000")), HasSubstr("rows"));
    EXPECT_THAT(error(mlp, plant("nan-embedding-row")), HasSubstr("no tokens"));
    EXPECT_THAT(error(mlp, plant("nan-carried-state")), HasSubstr("carries no state"));
    EXPECT_THAT(error(mlp, plant("scale-attention")), HasSubstr("no attention"));
    EXPECT_THAT(error(mlp, plant("log-of-zero", "0")), HasSubstr("leave it empty"));
}

}  // namespace
}  // namespace engine
