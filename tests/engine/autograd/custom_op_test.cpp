#include "support/custom_op.h"
#include "support/here.h"

#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "cast_counter.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"

namespace engine {
namespace {

const Op info("custom(x, w)", "A test's op.");

Tensor leaf(const Shape& shape, DType dtype = DType::f32) {
    Tensor x = Tensor::full(shape, 1, dtype);
    return x.set_requires_grad(true);
}

CustomArguments both(const Tensor& a, const Tensor& b) {
    return {CustomArgument{a}, CustomArgument{b}};
}

struct Seen {
    DType input = DType::i64, product = DType::i64, backward_product = DType::i64;
    bool on_forward = false, on_backward = false;
};

CustomOp product_op(Seen& seen, std::optional<DType> forced = {}) {
    return CustomOp(
        info,
        [&seen](const CustomArguments& args, TensorList& keep) {
            const Tensor a = std::get<Tensor>(args[0].value), b = std::get<Tensor>(args[1].value);
            keep = {a, b};
            seen.input = a.dtype();
            seen.on_forward = autocast_enabled(here);
            const Tensor y = mm(a, b);
            seen.product = y.dtype();
            return TensorList{y};
        },
        [&seen](std::span<const Tensor> dy, const TensorList& kept) {
            seen.on_backward = autocast_enabled(here);
            const Tensor da = product(dy[0], false, kept[1], true);
            seen.backward_product = da.dtype();
            return TensorList{da, product(kept[0], true, dy[0], false)};
        },
        forced);
}

TEST(CustomOp, A18ThePlainWrapperRunsBackwardUnderTheStateOfForward) {
    for (const DType low : {DType::f16, DType::bf16}) {
        Seen seen;
        const CustomOp op = product_op(seen);
        const Tensor x = leaf({8, 8}), w = leaf({8, 8});
        Tensor y;
        {
            const auto inside = AutocastRegion(here, true, low).enter();
            y = op(both(x, w))[0];
        }
        EXPECT_EQ(seen.input, DType::f32);
        EXPECT_TRUE(seen.on_forward);
        EXPECT_EQ(seen.product, low);
        backward(sum(y));
        EXPECT_TRUE(seen.on_backward);
        EXPECT_EQ(seen.backward_product, low);
        EXPECT_FALSE(autocast_enabled(here));
        EXPECT_EQ(x.grad().dtype(), DType::f32);
        EXPECT_EQ(w.grad().values(), std::vector<double>(64, 8));
    }
}

TEST(CustomOp, A19TheForcedWrapperCastsNestedArgumentsAndRunsWithAutocastOff) {
    std::vector<DType> seen;
    bool on_forward = true, on_backward = true;
    const CustomOp op(
        info,
        [&](const CustomArguments& args, TensorList&) {
            seen.clear();
            on_forward = autocast_enabled(here);
            const auto& list = std::get<std::vector<CustomArgument>>(args[0].value);
            const auto& map = std::get<std::map<std::string, CustomArgument>>(list[1].value);
            const Tensor a = std::get<Tensor>(list[0].value);
            const Tensor b = std::get<Tensor>(map.at("b").value);
            EXPECT_EQ(std::get<std::string>(args[1].value), "untouched");
            seen = {a.dtype(), b.dtype()};
            return TensorList{mm(a, b)};
        },
        [&](std::span<const Tensor> dy, const TensorList&) {
            on_backward = autocast_enabled(here);
            return TensorList{dy[0], dy[0]};
        },
        DType::f32);
    const Tensor a = leaf({2, 2}, DType::f16), b = leaf({2, 2}, DType::f16);
    const auto call = [&] {
        const std::map<std::string, CustomArgument> map{{"b", CustomArgument{b}}};
        const std::vector<CustomArgument> list{CustomArgument{a}, CustomArgument{map}};
        return op({CustomArgument{list}, CustomArgument{std::string("untouched")}})[0];
    };
    {
        const auto inside = AutocastRegion(here, true, DType::f16).enter();
        const Tensor y = call();
        EXPECT_EQ(y.dtype(), DType::f32);
        EXPECT_FALSE(on_forward);
        backward(sum(y));
        EXPECT_FALSE(on_backward);
    }
    EXPECT_EQ(seen, (std::vector<DType>{DType::f32, DType::f32}));
    EXPECT_EQ(a.grad().dtype(), DType::f16);
    EXPECT_EQ(call().dtype(), DType::f16);
    EXPECT_EQ(seen, (std::vector<DType>{DType::f16, DType::f16}));
}

TEST(CustomOp, A9AWeightIsCastOnceThroughForwardAndABackwardThatOpensItsOwnRegion) {
    const Tensor x = Tensor::full({8, 8}, 1, DType::f16), w = leaf({8, 8});
    const CustomOp op(
        info,
        [](const CustomArguments& args, TensorList& keep) {
            keep = {std::get<Tensor>(args[0].value), std::get<Tensor>(args[1].value)};
            return TensorList{linear(keep[0], keep[1])};
        },
        [](std::span<const Tensor> dy, const TensorList& kept) {
            const auto own = AutocastRegion(here, true, DType::f16).enter();
            const Tensor dx = mm(dy[0], kept[1]);
            return TensorList{dx, product(dy[0], true, kept[0], false)};
        });
    Tensor input = x;
    input.set_requires_grad(true);
    const auto outer = AutocastRegion(here, false).enter();
    const CastCounter counter(w);
    Tensor y;
    {
        const auto inside = AutocastRegion(here, true, DType::f16).enter();
        y = op(both(input, w))[0];
    }
    backward(sum(y));
    EXPECT_EQ(counter.count(), 1);
}

TEST(CustomOp, KeepsAnOutputWithoutALeakAndAnInputPassedThroughStaysItself) {
    std::weak_ptr<Node> node;
    {
        const CustomOp op(
            info,
            [](const CustomArguments& args, TensorList& keep) {
                const Tensor y = Tensor::full({2}, 3, DType::f32);
                keep = {y};
                return TensorList{y, std::get<Tensor>(args[0].value)};
            },
            [](std::span<const Tensor> dy, const TensorList& kept) {
                EXPECT_EQ(kept[0].values(), (std::vector<double>{3, 3}));
                return TensorList{dy[0]};
            });
        const Tensor x = leaf({2});
        const TensorList y = op(CustomArguments{CustomArgument{x}});
        EXPECT_TRUE(x.is_leaf());
        node = y[0].impl()->node;
        backward(sum(y[0]));
        EXPECT_EQ(x.grad().values(), (std::vector<double>{1, 1}));
    }
    EXPECT_TRUE(node.expired());
}

}  // namespace
}  // namespace engine
