#include "ops/catalog/by_name.h"

#include <gtest/gtest.h>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "support/here.h"

namespace engine {
namespace {

/// x + sum of all members + offset, or x alone if `plain`.
Tensor gathered(const Tensor& x, const Tensor& y, double offset, const TensorList& members,
                const std::vector<std::int64_t>& sizes, bool plain) {
    Tensor sum = plain ? x : add(x, offset + static_cast<double>(sizes.size()));
    if (y.defined()) sum = add(sum, y);
    for (const Tensor& each : members) sum = add(sum, each);
    return sum;
}
constexpr Op gathered_op(CastPolicy::none,
                         "gathered(x, extra?, members[]; offset, sizes=[1, 2], plain=False)",
                         "Made for these tests.", by_name<gathered>);

Tensor number(double value) { return Tensor::scalar(value, DType::f32, default_device()); }

TEST(Signature, NamesTensorsAndAttributesWithTheirDefaults) {
    const Signature signature(gathered_op);
    EXPECT_EQ(gathered_op.name, "gathered");
    ASSERT_EQ(signature.tensors().size(), 3u);
    EXPECT_FALSE(signature.tensors()[0].optional);
    EXPECT_TRUE(signature.tensors()[1].optional);
    EXPECT_EQ(signature.tensors()[2].name, "members");
    ASSERT_EQ(signature.attributes().size(), 3u);
    EXPECT_EQ(signature.attributes()[0].otherwise, "");
    EXPECT_EQ(signature.attributes()[1].otherwise, "[1,2]");
    EXPECT_EQ(signature.attributes()[2].name, "plain");
}

TEST(ByName, TakesTensorsByPositionAndAttributesByName) {
    OpArguments args;
    args.tensors = {{0, number(1)}, {1, number(10)}};
    args.lists = {{2, {number(100), number(200)}}};
    args.attrs = {{"offset", 0.5}, {"sizes", std::vector<std::int64_t>{7}}};
    EXPECT_EQ(gathered_op.call_by_name(args)[0].item(), 312.5);
    args.attrs["plain"] = true;
    EXPECT_EQ(gathered_op.call_by_name(args)[0].item(), 311);
}

TEST(ByName, FillsDefaultsAndRefusesWhatIsMissing) {
    OpArguments args;
    args.tensors = {{0, number(1)}};
    EXPECT_THROW(gathered_op.call_by_name(args), Error) << "offset has no default";
    args.attrs = {{"offset", std::int64_t{4}}};
    EXPECT_EQ(gathered_op.call_by_name(args)[0].item(), 7);
    args.tensors.clear();
    EXPECT_THROW(gathered_op.call_by_name(args), Error) << "x is missing";
}

TEST(OpCall, CastsTheTensorsOfACallByThePolicy) {
    constexpr Op low(CastPolicy::low, "low(x, members[])", "Made for these tests.", nullptr);
    const Tensor x = number(1);
    const TensorList members{number(2), Tensor::full({}, 3, DType::i64, default_device())};
    const auto types = [&] {
        std::vector<DType> out;
        const auto gather = [](const Tensor& a, const TensorList& b) {
            return TensorList{a, b[0], b[1]};
        };
        for (const Tensor& each : low.call(x, 2.5, members, gather)) out.push_back(each.dtype());
        return out;
    };
    EXPECT_EQ(types(), (std::vector<DType>{DType::f32, DType::f32, DType::i64}));
    const AutocastRegion region(here, true, DType::bf16);
    const auto entered = region.enter();
    EXPECT_EQ(types(), (std::vector<DType>{DType::bf16, DType::bf16, DType::i64}));
}

}  // namespace
}  // namespace engine
