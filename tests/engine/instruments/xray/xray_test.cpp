#include "engine/instruments/xray.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "engine/settings/catalog.h"
#include "resume_support.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

RunConfig lenet(const char* preset, std::int64_t batch = 32) {
    RunConfig config;
    config.precision.preset = preset;
    config.batch_size = batch;
    config.threads = 1;
    config.device = "cpu";
    config.dataset.train_limit = 256;
    config.dataset.test_limit = 32;
    return completed(config);
}

const XrayOp& op_of(const Xray& xray, const char* module, const char* op) {
    const auto found = std::ranges::find_if(
        xray.ops, [&](const XrayOp& each) { return each.module == module && each.op == op; });
    EXPECT_NE(found, xray.ops.end()) << module << " " << op;
    return found == xray.ops.end() ? xray.ops.front() : *found;
}

/// LeNet on glyphs (20 classes of 1x28x28, batch 32), counted by hand. Forward: autocast casts the
/// pictures for conv1. Every other layer already reads f16, and its weight and bias come from the
/// copies that the optimizer keeps. Backward: the gradients of the five weights and five biases are
/// cast from f16 to f32.
TEST(Xray, CountsTheCastsOfLeNetAsByHand) {
    const Xray xray = xray_first_step(lenet("amp-fp16"));
    std::vector<std::string> forward;
    std::int64_t kept = 0, backward = 0, elements = 0;
    for (const XrayOp& op : xray.ops) {
        for (const XrayCast& cast : op.casts) {
            forward.push_back(op.module + " " + op.op + " " + cast.from + " " + cast.to);
            EXPECT_EQ(cast.elements, 32 * 28 * 28);
            EXPECT_EQ(cast.bytes, 32 * 28 * 28 * (4 + 2));
        }
        kept += op.kept_copies;
        if (op.op != "to") continue;
        EXPECT_EQ(op.pass, XrayPass::backward) << op.module;
        EXPECT_EQ(op.inputs.at(0).dtype, "f16");
        EXPECT_EQ(op.outputs.at(0).dtype, "f32");
        ++backward;
        elements += std::accumulate(op.outputs[0].shape.begin(), op.outputs[0].shape.end(),
                                    std::int64_t{1}, std::multiplies<>());
    }
    EXPECT_THAT(forward, ElementsAre("conv1 conv2d f32 f16"));
    EXPECT_EQ(kept, 5 * 2);
    EXPECT_EQ(backward, 5 * 2);
    const std::int64_t parameters = (6 * 1 * 25 + 6) + (16 * 6 * 25 + 16) + (256 * 120 + 120) +
                                    (120 * 84 + 84) + (84 * 20 + 20);
    EXPECT_EQ(elements, parameters);
    const XrayTotal all = total(xray);
    EXPECT_EQ(all.casts, 11);
    EXPECT_EQ(all.cast_bytes, 6 * (32 * 28 * 28 + parameters));
}

TEST(Xray, CanBeGivenUpInAnyOperation) {
    const CapturedStep step = capture_first_step(lenet("amp-fp16"));
    std::vector<std::string> whole, again;
    for (const XrayOp& op : xray_step(step).ops) whole.push_back(op.module + op.op);
    int polls = 0;
    {
        const WorkScope scope([&](double) { ++polls; });
        xray_step(step);
    }
    EXPECT_GT(polls, std::ssize(whole)) << "once an operation at least";
    for (const int last : {1, 3, polls / 3, polls - 1}) {
        int left = last;
        const WorkScope scope([&](double) {
            if (--left == 0) throw Error(ErrorCode::state, msg("Cancelled."));
        });
        EXPECT_THROW(xray_step(step), Error) << last;
        EXPECT_EQ(left, 0) << "at once";
    }
    for (const XrayOp& op : xray_step(step).ops) again.push_back(op.module + op.op);
    EXPECT_EQ(again, whole) << "nothing of the others is left on the thread";
}

TEST(Xray, TellsTypesRulesAndShapesOfEachLayer) {
    const Xray xray = xray_first_step(lenet("amp-fp16"));
    const XrayOp& conv = op_of(xray, "conv1", "conv2d");
    EXPECT_EQ(conv.rule, "low");
    EXPECT_EQ(conv.compute_dtype, "f16");
    EXPECT_EQ(conv.why, [] {
        for (const auto& op : ops()) {
            if (op.name == "conv2d") return op.why;
        }
        return std::string();
    }());
    EXPECT_THAT(conv.inputs, ElementsAre(XrayTensor{"f32", {32, 1, 28, 28}},
                                         XrayTensor{"f32", {6, 1, 5, 5}}, XrayTensor{"f32", {6}}));
    EXPECT_THAT(conv.outputs, ElementsAre(XrayTensor{"f16", {32, 6, 24, 24}}));
    EXPECT_EQ(conv.flops, 2.0 * 32 * 6 * 24 * 24 * 25);
    const XrayOp& fc = op_of(xray, "fc1", "linear");
    EXPECT_EQ(fc.flops, 2.0 * 32 * 256 * 120);
    EXPECT_TRUE(fc.casts.empty());
    const XrayOp& loss = op_of(xray, "", "cross_entropy");
    EXPECT_EQ(loss.pass, XrayPass::forward);
    EXPECT_EQ(loss.outputs.front().dtype, "f32");
    EXPECT_EQ(loss.rule, "inside") << "it has no entry, but does not keep its input's type";
    EXPECT_EQ(loss.compute_dtype, "f32");
    EXPECT_EQ(xray.ops.back().op, "optimizer");
    EXPECT_EQ(xray.ops.back().pass, XrayPass::update);
    for (const XrayOp& op : xray.ops) {
        if (op.pass == XrayPass::backward) {
            EXPECT_EQ(op.rule, "gradient") << op.op;
        }
        EXPECT_FALSE(op.why.empty()) << op.op;
        EXPECT_GE(op.us, 0) << op.op;
        EXPECT_GT(op.memory_bytes, 0) << op.op;
    }
}

TEST(Xray, WithoutAutocastNothingIsCast) {
    const Xray xray = xray_first_step(lenet("fp32"));
    EXPECT_EQ(total(xray).casts, 0);
    EXPECT_EQ(op_of(xray, "conv1", "conv2d").rule, "off");
    for (const XrayOp& op : xray.ops) {
        EXPECT_TRUE(op.compute_dtype == "f32" || op.compute_dtype.empty()) << op.op;
    }
}

TEST(Xray, TimesAddUpToTheStep) {
    const Xray xray = xray_first_step(lenet("amp-fp16", 256));
    const XrayTotal all = total(xray);
    EXPECT_GT(all.us / 1000, 0.95 * xray.step_ms);
    EXPECT_LE(all.us / 1000, xray.step_ms);
    EXPECT_GT(xray.untraced_ms, 0);
    EXPECT_GE(xray.slowest_ms, xray.untraced_ms);
    EXPECT_EQ(xray_from_json(to_json(xray)).slowest_ms, xray.slowest_ms);
    double at = 0;
    for (const XrayOp& op : xray.ops) {
        EXPECT_NEAR(op.start_us, at, 1e-6);
        at = op.start_us + op.us;
    }
    for (const auto& totals : {totals_by_dtype(xray), totals_by_module(xray), totals_by_op(xray)}) {
        double sum = 0;
        for (const auto& each : totals) sum += each.us;
        EXPECT_NEAR(sum, all.us, 1e-6 * all.us);
    }
}

/// Three small linear layers are one node of the tape.
TEST(Xray, ShowsThePartsOfWhatIsComputedTogetherAndDividesItsTime) {
    RunConfig config = lenet("fp32");
    config.model.kind = "mlp";
    config.model.options = {{"hidden", std::vector<std::int64_t>{16, 16}}};
    const Xray xray = xray_first_step(config);
    std::vector<std::string> layers;
    std::int64_t products = 0, masks = 0;
    for (const XrayOp& op : xray.ops) {
        if (op.op == "linear") layers.push_back(op.module);
        products += op.op == "mm" ? 1 : 0;
        masks += op.op == "relu_backward" ? 1 : 0;
        if (op.op != "linear" && op.op != "mm" && op.op != "relu_backward") continue;
        EXPECT_GT(op.us, 0) << op.op;
        EXPECT_EQ(op.rule, op.op == "linear" ? "off" : "gradient");
    }
    EXPECT_THAT(layers, ElementsAre("fc1", "fc2", "fc3"));
    EXPECT_EQ(products, 3 + 2) << "nobody needs the pictures' gradient";
    EXPECT_EQ(masks, 2);
}

TEST(Xray, NamesTheKeyOfAForcedOperation) {
    RunConfig config = lenet("amp-fp16");
    config.precision.force = {{"fc2", ForcedType::fp32}};
    const Xray xray = xray_first_step(config);
    const XrayOp& fc = op_of(xray, "fc2", "linear");
    EXPECT_EQ(fc.rule, "forced");
    EXPECT_EQ(fc.key, "fc2");
    EXPECT_EQ(fc.compute_dtype, "f32");
    EXPECT_EQ(op_of(xray, "fc1", "linear").rule, "low");
    EXPECT_EQ(fc.casts.size(), 1U) << "its input, which is f16";
}

TEST(Xray, SurvivesItsFile) {
    const Xray xray = xray_first_step(lenet("amp-fp16", 4));
    const Xray back = xray_from_json(to_json(xray));
    EXPECT_EQ(to_json(back), to_json(xray));
    ASSERT_EQ(back.ops.size(), xray.ops.size());
    EXPECT_EQ(back.ops.front().inputs, xray.ops.front().inputs);
    EXPECT_THROW(xray_from_json("{}"), Error);
    EXPECT_THROW(xray_from_json("no json"), Error);
    EXPECT_THAT(text_of(xray), HasSubstr("forward conv1"));
}

TEST(Xray, AnExperimentShowsTheStepBeforeAndAfter) {
    const XrayExperiment same =
        try_forced(capture_first_step(lenet("fp32")), {{"fc2", ForcedType::fp32}});
    EXPECT_EQ(same.before.gradient_error, 0) << "FP32 beside FP32";
    EXPECT_EQ(same.after.gradient_error, 0);
    EXPECT_EQ(same.after.loss, same.before.loss);
    const XrayExperiment coarse =
        try_forced(capture_first_step(lenet("fp32")), {{"fc2", ForcedType::bf16}});
    EXPECT_EQ(coarse.before.gradient_error, 0);
    EXPECT_GT(coarse.after.gradient_error, 0);
    EXPECT_LT(coarse.after.gradient_error, 0.1);
    EXPECT_THAT(coarse.conclusion.str(), HasSubstr("fc2 = bf16: the gradient error rises"));
    ForcedTypes all;
    for (const char* module : {"conv1", "conv2", "fc1", "fc2", "fc3"})
        all[module] = ForcedType::fp32;
    const XrayExperiment exact = try_forced(capture_first_step(lenet("amp-fp16")), all);
    EXPECT_GT(exact.before.gradient_error, 0);
    EXPECT_EQ(exact.after.gradient_error, 0) << "all of it in FP32, the scale a power of two";
    EXPECT_THAT(exact.conclusion.str(), HasSubstr("falls"));
}

class XrayOfRunTest : public test::ResumedRuns {};

TEST_F(XrayOfRunTest, ShowsAStepOfARunAndKeepsItInItsFolder) {
    RunConfig config = small_run("lenet", "amp-fp16");
    config.max_steps = 6;
    const Ended run = train(config);
    const Xray xray = xray_step(run.folder, 4);
    EXPECT_EQ(xray.step, 4);
    EXPECT_EQ(xray.loss, run.record.row(3).loss);
    save_xray(run.folder, xray);
    EXPECT_TRUE(std::filesystem::exists(run.folder / "xray" / "4.json"));
    EXPECT_THROW(xray_step(run.folder, 9), Error);
}

}  // namespace
}  // namespace engine
