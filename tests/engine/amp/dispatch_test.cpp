#include "amp/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "autograd/checkpoint.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "op_samples.h"
#include "ops/catalog/catalog.h"
#include "ops/index/embedding.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/module_scope.h"

namespace engine {
namespace {

using testing::ElementsAre;

std::shared_ptr<const ForceRules> rules(std::vector<ForceRule> list) {
    return std::make_shared<const ForceRules>(std::move(list));
}
std::shared_ptr<const ForceRules> force_op(const std::string& op, DType type) {
    return rules({{op, "", op, type}});
}

/// Records each operation as a text, such as "linear f16".
class Types final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        if (event.info == &cast_op) return;
        for (const Tensor& each : event.inputs) {
            if (!each.defined() || !is_floating(each.dtype())) continue;
            seen.push_back(std::string(event.in_backward ? "backward " : "") +
                           std::string(event.info->name) + " " + name(each.dtype()));
            return;
        }
    }
    std::vector<std::string> seen;
};

Tensor leaf(const Shape& shape, std::uint32_t seed) {
    Tensor x = random_tensor(shape, DType::f32, seed);
    x.set_requires_grad(true);
    return x;
}

/// Two linear layers, in modules "a" and "b.c".
struct Net {
    Tensor w1 = leaf({5, 4}, 1), w2 = leaf({3, 5}, 2);
    ModuleName a{"a"}, b{"b.c"};

    Tensor operator()(const Tensor& x) const {
        Tensor h;
        {
            const ModuleScope opened(a);
            h = relu(linear(x, w1, {}));
        }
        const ModuleScope opened(b);
        return linear(h, w2, {});
    }
};

TEST(Dispatch, ForcesWhatTheMostSpecificRuleSaysInARegion) {
    const Net net;
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    const ForceScope forced(rules({{"a", "a", "", DType::f32},
                                   {"a:relu", "a", "relu", DType::bf16},
                                   {"linear", "", "linear", DType::bf16}}));
    Types types;
    const ObserverScope attached(types);
    EXPECT_EQ(net(random_tensor({2, 4}, DType::f32, 3)).dtype(), DType::bf16);
    EXPECT_THAT(types.seen, ElementsAre("linear f32", "relu bf16", "linear bf16"));
}

TEST(Dispatch, WithoutARegionResultsGoBackToTheTypeThatTheyWouldHaveHad) {
    const Net net;
    const ForceScope forced(force_op("linear", DType::f16));
    Types types;
    const ObserverScope attached(types);
    EXPECT_EQ(net(random_tensor({2, 4}, DType::f32, 3)).dtype(), DType::f32);
    EXPECT_THAT(types.seen, ElementsAre("linear f16", "relu f32", "linear f16"));
}

/// Gradients of both weights.
TensorList gradients(const Net& net, const Tensor& y) {
    backward(sum(mul(to(y, DType::f32), random_tensor(y.shape(), DType::f32, 9))));
    return {net.w1.grad(), net.w2.grad()};
}

TEST(Dispatch, EqualsCastsByHandBitForBitForwardAndBackward) {
    const Net forced_net, net;
    const Tensor x = random_tensor({2, 4}, DType::f32, 3);
    Tensor y;
    {
        const ForceScope forced(rules({{"a", "a", "", DType::f16}}));
        y = forced_net(x);
    }
    const auto low = [](const Tensor& t) { return to(t, DType::f16); };
    const Tensor h = to(linear(low(x), low(net.w1), {}), DType::f32);
    const Tensor by_hand = linear(to(relu(low(h)), DType::f32), net.w2, {});
    EXPECT_EQ(y.values(), by_hand.values());
    const TensorList got = gradients(forced_net, y), wanted = gradients(net, by_hand);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(got[i].dtype(), DType::f32);
        EXPECT_EQ(got[i].values(), wanted[i].values()) << i;
    }
}

/// Operations of the backward pass of a net that ran in an f16 region.
std::vector<std::string> backward_types(const std::shared_ptr<const ForceRules>& forced) {
    const Net net;
    Tensor y;
    {
        const AutocastRegion region(here, true, DType::f16);
        const auto entered = region.enter();
        y = sum(net(random_tensor({2, 4}, DType::f32, 3)));
    }
    const ForceScope scope(forced);
    Types types;
    const ObserverScope attached(types);
    backward(y);
    return types.seen;
}

TEST(Dispatch, BackwardKeepsTheTypesOfTheForward) {
    const auto plain = backward_types(nullptr);
    EXPECT_THAT(plain, testing::Contains("backward relu_backward f16"));
    EXPECT_EQ(backward_types(rules({{"a", "a", "", DType::f32}, {"b", "b", "", DType::bf16}})),
              plain);
}

TEST(Dispatch, RecomputationKeepsTheForcedTypesAfterTheirScope) {
    const Net recomputed, plain;
    const Tensor x = leaf({2, 4}, 3);
    const auto of = [&](const Net& net, bool again) {
        const ForceScope forced(rules({{"a", "a", "", DType::f16}}));
        if (!again) return net(x);
        return checkpoint([&net](const TensorList& in) { return TensorList{net(in[0])}; }, {x})[0];
    };
    const TensorList got = gradients(recomputed, of(recomputed, true));
    const TensorList wanted = gradients(plain, of(plain, false));
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(got[i].values(), wanted[i].values());
}

TEST(Dispatch, NothingIsForcedWithoutRulesAndInsideAListedOp) {
    EXPECT_FALSE(types_are_forced());
    {
        const ForceScope none(nullptr);
        EXPECT_FALSE(types_are_forced());
        const ForceScope forced(force_op("relu", DType::f16));
        EXPECT_TRUE(types_are_forced());
        const NoAutocast inside(here);
        EXPECT_FALSE(types_are_forced()) << "a listed op is forced as a whole";
    }
    EXPECT_FALSE(types_are_forced());
}

TEST(Dispatch, ABannedOpStaysBanned) {
    const ForceScope forced(force_op("binary_cross_entropy", DType::f32));
    const Tensor p = Tensor::full({3}, 0.5, DType::f32, default_device());
    EXPECT_NO_THROW(binary_cross_entropy(p, p));
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    EXPECT_THROW(binary_cross_entropy(p, p), Error);
}

TEST(Dispatch, APlainNumberKeepsItsDigits) {
    const ForceScope forced(force_op("mul", DType::f16));
    const Tensor x = Tensor::full({2}, 0x1p-20, DType::f32, default_device());
    EXPECT_EQ(mul(x, 0x1p17).values(), std::vector<double>(2, 0x1p-3))
        << "131072 alone would be inf in f16";
}

TEST(Dispatch, DoesNotCastF64IntegersAndOtherOps) {
    const ForceScope forced(force_op("add", DType::f16));
    const Tensor wide = Tensor::full({2}, 1.0 / 3, DType::f64, default_device());
    EXPECT_EQ(add(wide, wide).dtype(), DType::f64);
    EXPECT_EQ(add(wide, wide).values(), std::vector<double>(2, 2.0 / 3));
    const Tensor whole = Tensor::full({2}, 70'000, DType::i64, default_device());
    EXPECT_EQ(add(whole, whole).values(), std::vector<double>(2, 140'000));
    const Tensor x = Tensor::full({2}, 0x1p17, DType::f32, default_device());
    EXPECT_EQ(mul(x, x).values(), std::vector<double>(2, 0x1p34));
    EXPECT_TRUE(std::isinf(add(x, x).values()[0])) << "131072 is inf in f16";
}

TEST(Dispatch, AnEmbeddingKeepsASparseGradient) {
    const Tensor table = leaf({6, 3}, 5);
    const Tensor index = Tensor::of({4, 1, 4}, {3}, DType::i64);
    const ForceScope forced(force_op("embedding", DType::f16));
    const Tensor y = embedding(index, table, {.sparse = true});
    EXPECT_EQ(y.dtype(), DType::f32);
    EXPECT_EQ(y.values(),
              to(to(embedding(index, table.detach(), {}), DType::f16), DType::f32).values())
        << "rounded to f16 once";
    backward(sum(y));
    EXPECT_TRUE(table.grad().is_sparse());
}

/// Running statistics in f16, as in pure-fp16, with a batch norm in f32.
TEST(Dispatch, BatchNormWritesItsStatisticsWhateverItsType) {
    const Tensor x = random_tensor({8, 2, 3, 3}, DType::f16, 4);
    const auto constant = [](double value) {
        return Tensor::full({2}, value, DType::f16, default_device());
    };
    const auto run = [&](const Tensor& mean, const Tensor& var) {
        return batch_norm(x, constant(1), constant(0), mean, var, true, 0.5, 1e-5);
    };
    const Tensor mean = constant(0), var = constant(1), plain_mean = constant(0),
                 plain_var = constant(1);
    const Tensor plain = run(plain_mean, plain_var);
    const std::uint32_t version = mean.version();
    const ForceScope forced(force_op("batch_norm", DType::f32));
    const Tensor y = run(mean, var);
    EXPECT_EQ(y.dtype(), DType::f16);
    expect_close(to(y, DType::f32), to(plain, DType::f32), 0x1p-9);
    EXPECT_GT(mean.version(), version);
    EXPECT_EQ(mean.dtype(), DType::f16);
    EXPECT_NE(mean.values(), constant(0).values());
    expect_close(to(mean, DType::f32), to(plain_mean, DType::f32), 0x1p-10);
    expect_close(to(var, DType::f32), to(plain_var, DType::f32), 0x1p-10);
}

/// Records the first output of each outermost call of an op.
class Outputs final : public OpObserver {
public:
    explicit Outputs(std::string op) : op_(std::move(op)), scope_(*this) {}
    void on_call(const OpCall& call) override { open_.push_back(call); }
    void on_return(std::span<const Tensor> outputs) override {
        const OpCall call = open_.back();
        open_.pop_back();
        const auto same = [&](const OpCall& outer) { return outer.info == call.info; };
        const bool inside = std::ranges::any_of(open_, same);  // an op that calls itself
        if (call.info->name != op_ || outputs.empty() || inside) return;
        seen.push_back(outputs.front());
        forced += call.forced != nullptr ? 1 : 0;
    }
    TensorList seen;
    std::size_t forced = 0;

private:
    std::string op_;
    std::vector<OpCall> open_;
    ObserverScope scope_;
};

TensorList outputs_of(const OpSample& sample, const TensorList& args, bool forced) {
    Outputs outputs(sample.op);
    sample.call(args);
    EXPECT_FALSE(outputs.seen.empty()) << "the op does not go through Op::call";
    EXPECT_EQ(outputs.forced, forced ? outputs.seen.size() : 0);
    return outputs.seen;
}

class EveryForceableOp : public testing::TestWithParam<OpSample> {};

TEST_P(EveryForceableOp, ObeysAndGoesBack) {
    const OpSample& sample = GetParam();
    const GradMode off(false);
    const TensorList args = arguments(sample, DType::f32, false);
    const TensorList plain = outputs_of(sample, args, false);
    const ForceScope forced(force_op(sample.op, DType::bf16));
    if (find_op(sample.op)->policy != CastPolicy::banned) {
        const AutocastRegion region(here, true, DType::f16);
        const auto entered = region.enter();
        for (const Tensor& y : outputs_of(sample, args, true))
            EXPECT_EQ(y.dtype(), DType::bf16) << "under autocast the forced type stays";
    }
    const TensorList back = outputs_of(sample, args, true);
    ASSERT_EQ(back.size(), plain.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
        EXPECT_EQ(back[i].dtype(), plain[i].dtype()) << "without autocast the result goes back";
        EXPECT_EQ(back[i].values(), to(to(back[i], DType::bf16), back[i].dtype()).values())
            << "from bf16";
    }
}

std::vector<OpSample> forceable_samples() {
    std::set<std::string> forceable;
    for (const OpSummary& op : ops()) {
        if (op.forceable) forceable.insert(op.name);
    }
    std::vector<OpSample> out;
    for (const auto& sample : op_samples()) {
        if (forceable.contains(sample.op)) out.push_back(sample);
    }
    return out;
}

std::string label(const testing::TestParamInfo<OpSample>& info) { return test_label(info.param); }
INSTANTIATE_TEST_SUITE_P(Catalog, EveryForceableOp, testing::ValuesIn(forceable_samples()), label);

}  // namespace
}  // namespace engine
