#include "tensor/module_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "autograd/backward.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/tape.h"

namespace engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// Records "op module" for every op and for every gradient that flows to one.
class Witness final : public OpObserver {
public:
    void on_op(const OpEvent& event) override { note(ops, *event.info); }
    void on_gradient(const Op& to, const Tensor&) override { note(gradients, to); }

    std::vector<std::string> ops, gradients;

private:
    static void note(std::vector<std::string>& list, const Op& info) {
        list.push_back(std::string(info.name) + " " + current_module());
    }
};

Tensor filled_leaf(double value) {
    return Tensor::full({2}, value, DType::f32).set_requires_grad(true);
}

TEST(ModuleScope, IsTheInnermostModuleUntilItEnds) {
    EXPECT_EQ(current_module(), "");
    {
        const ModuleScope outer(ModuleName("layer1"));
        EXPECT_EQ(current_module(), "layer1");
        {
            const ModuleScope inner(ModuleName("layer1.0"));
            EXPECT_EQ(current_module(), "layer1.0");
            EXPECT_THAT(open_modules(), ElementsAre("layer1", "layer1.0"));
        }
        EXPECT_EQ(current_module(), "layer1");
        const ModuleScope whole_model{ModuleName()};
        EXPECT_EQ(current_module(), "") << "the model itself has no name";
    }
    EXPECT_THAT(open_modules(), IsEmpty());
}

TEST(ModuleScope, EndsWhenAnErrorPassesThrough) {
    try {
        const ModuleScope opened(ModuleName("fc"));
        throw std::runtime_error("no memory");
    } catch (const std::runtime_error&) {
    }
    EXPECT_THAT(open_modules(), IsEmpty());
}

TEST(ModuleScope, IsOfItsThreadAlone) {
    const ModuleScope opened(ModuleName("fc"));
    std::string elsewhere = "not run";
    std::thread([&] { elsewhere = current_module(); }).join();
    EXPECT_EQ(elsewhere, "");
}

TEST(ModuleName, EqualNamesAreOneAndAreNeverFreed) {
    const ModuleName first("layer1.0"), again(std::string("layer1.") + "0");
    EXPECT_EQ(first, again);
    EXPECT_EQ(&first.text(), &again.text());
    EXPECT_NE(first, ModuleName("layer1.1"));
    EXPECT_EQ(ModuleName(""), ModuleName());
    EXPECT_EQ(sizeof(ModuleName), sizeof(void*)) << "a node of the tape has one";
}

TEST(ModuleScope, ANodeRemembersTheModuleOfItsForward) {
    const Tensor x = filled_leaf(1);
    Tensor inside;
    {
        const ModuleScope opened(ModuleName("fc"));
        inside = exp(x);
    }
    const Tensor outside = exp(inside);
    EXPECT_EQ(inside.impl()->node->module().text(), "fc");
    EXPECT_EQ(outside.impl()->node->module().text(), "");
}

TEST(ModuleScope, ABackwardPassOpensTheModuleOfEachNode) {
    const Tensor x = filled_leaf(1);
    Tensor y;
    {
        const ModuleScope opened(ModuleName("first"));
        y = exp(x);
    }
    {
        const ModuleScope opened(ModuleName("second"));
        y = tanh(y);
    }
    Witness witness;
    std::string in_hook = "not called";
    y.register_hook([&](const Tensor&) { in_hook = current_module(); });
    {
        // The module that is open during the backward pass is not the one that its nodes belong to.
        const ModuleScope around(ModuleName("penalty"));
        const ObserverScope attached(witness);
        backward(sum(y));
        EXPECT_EQ(current_module(), "penalty");
    }
    EXPECT_THAT(witness.gradients,
                ElementsAre("sum penalty", "tanh second", "exp first", "accumulate_grad first"));
    EXPECT_THAT(witness.ops, Contains("tanh_backward second"));
    EXPECT_EQ(in_hook, "second");
    EXPECT_THAT(open_modules(), IsEmpty());
}

TEST(ModuleScope, ATapeOutlivesTheNamesOwner) {
    const Tensor x = filled_leaf(1);
    Tensor y;
    {
        const std::string owner = "a name that is too long for the string's own buffer";
        const ModuleScope opened{ModuleName(owner)};
        y = exp(x);
    }
    EXPECT_EQ(y.impl()->node->module().text().size(), 51u);
}

}  // namespace
}  // namespace engine
