#include "amp/call_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

using testing::ElementsAre;

/// The names of the traced operations, with the types of their inputs.
class Names final : public CallTrace {
public:
    explicit Names(std::vector<std::string> accepted) : accepted_(std::move(accepted)) {}
    bool has(const Op& info) const override {
        return std::ranges::find(accepted_, info.name) != accepted_.end();
    }
    void on_traced(const TracedCall& call) override {
        std::string line(call.info.name);
        for (const Tensor& each : call.inputs) line += std::string(" ") + name(each.dtype());
        lines.push_back(line);
    }
    void on_same_value(const Tensor&, const Tensor&) override {}
    using CallTrace::unknown_maker;
    std::vector<std::string> lines;

private:
    std::vector<std::string> accepted_;
};

Tensor all_ones(const Shape& shape) { return Tensor::full(shape, 1, DType::f32, Device{}); }

TEST(CallTrace, PassesOnTheOutermostAcceptedOperation) {
    const Tensor x = all_ones({2, 3});
    {
        Names both({"silu", "sigmoid", "mul"});
        silu(x);
        EXPECT_THAT(both.lines, ElementsAre("silu f32"));
    }
    Names parts({"sigmoid"});
    silu(x);
    EXPECT_THAT(parts.lines, ElementsAre("sigmoid f32"));
}

TEST(CallTrace, PassesOnCastsOfAnOperationsInputsBeforeIt) {
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    Names trace({"linear", "to"});
    linear(all_ones({2, 3}), all_ones({4, 3}));
    EXPECT_THAT(trace.lines, ElementsAre("to f32", "to f32", "linear bf16 bf16"));
}

TEST(CallTrace, KnowsTheMakerOfAResultThatIsNotTraced) {
    Names trace({"permute"});
    const Tensor x = all_ones({2, 3});
    const Tensor turned = transpose(x, 0, 1), opposite = neg(x);
    EXPECT_THAT(trace.lines, ElementsAre("permute f32"));
    EXPECT_EQ(trace.unknown_maker(opposite), "neg");
    EXPECT_EQ(trace.unknown_maker(turned), "");
}

TEST(TracedCall, FindsTheDimensionsOfViews) {
    struct Views final : CallTrace {
        bool has(const Op& info) const override {
            return info.name == "permute" || info.name == "narrow";
        }
        void on_traced(const TracedCall& call) override {
            orders.push_back(call.info.name == "permute" ? call.order()
                                                         : std::vector<std::int64_t>{});
            dims.push_back(call.changed_dim());
        }
        void on_same_value(const Tensor&, const Tensor&) override {}
        std::vector<std::vector<std::int64_t>> orders;
        std::vector<int> dims;
    } trace;
    const Tensor x = all_ones({2, 3, 4});
    permute(x, {2, 0, 1});
    narrow(x, 1, 0, 2);
    EXPECT_THAT(trace.orders, ElementsAre(ElementsAre(2, 0, 1), ElementsAre()));
    EXPECT_EQ(trace.dims.back(), 1);
}

}  // namespace
}  // namespace engine
