#include "ops/linalg/products.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/einsum.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/catalog_only/tensor_products.h"
#include "ops/catalog_only/vector_products.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

Tensor ones(const Shape& shape, DType dtype) { return Tensor::full(shape, 1, dtype); }

/// The message and the hint of an error about types, or "".
template <typename F>
std::string dtype_error_text(F&& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::dtype);
        return std::string(error.what()) + " / " + error.hint().str();
    }
    return "";
}

struct Mixed {
    const char* op;
    std::function<Tensor()> call;
    DType inside;  // type of the result in a region of f16
};

const DType low_type = DType::f16, wide_type = DType::f32;

std::vector<Mixed> mixed_calls() {
    const auto m = [](const Shape& shape, DType dtype) { return ones(shape, dtype); };
    return {
        {"baddbmm",
         [=] {
             return baddbmm(m({2, 3, 2}, wide_type), m({2, 3, 4}, low_type),
                            m({2, 4, 2}, low_type));
         },
         low_type},
        {"addbmm",
         [=] {
             return addbmm(m({3, 2}, low_type), m({2, 3, 4}, wide_type), m({2, 4, 2}, low_type));
         },
         low_type},
        {"addmv",
         [=] {
             return addmv(m({3}, low_type), m({3, 4}, low_type), m({4}, wide_type));
         },
         low_type},
        {"chain_matmul",
         [=] {
             return chain_matmul({m({2, 3}, low_type), m({3, 2}, wide_type)});
         },
         low_type},
        {"linalg_multi_dot",
         [=] {
             return linalg_multi_dot({m({3}, low_type), m({3, 2}, wide_type)});
         },
         low_type},
        {"linalg_vecdot", [=] { return linalg_vecdot(m({3}, wide_type), m({3}, low_type)); },
         low_type},
        {"einsum",
         [=] {
             return einsum("ij,j->i", {m({2, 3}, wide_type), m({3}, low_type)});
         },
         low_type},
        {"linear",
         [=] {
             return linear(m({2, 3}, low_type), m({3}, wide_type));
         },
         low_type},
        {"tensordot",
         [=] {
             return tensordot(m({2, 3}, low_type), m({3, 2}, wide_type), 1);
         },
         wide_type},
        {"bilinear",
         [=] {
             return bilinear(m({2, 3}, low_type), m({2, 3}, wide_type), m({1, 3, 3}, low_type));
         },
         wide_type},
        {"cross", [=] { return cross(m({3}, low_type), m({3}, wide_type)); }, wide_type},
        {"vdot", [=] { return vdot(m({3}, wide_type), m({3}, low_type)); }, wide_type}};
}

TEST(Products, A11A13M9MixedTypesAreAnErrorOutsideARegionAndFineInside) {
    for (const auto& [op, call, inside] : mixed_calls()) {
        SCOPED_TRACE(op);
        const std::string text = dtype_error_text(call);
        EXPECT_NE(text.find(op), std::string::npos) << text;
        EXPECT_NE(text.find("f16"), std::string::npos) << text;
        EXPECT_NE(text.find("f32"), std::string::npos) << text;
        EXPECT_NE(text.find("inside an autocast region"), std::string::npos) << text;
        const AutocastRegion region(here, true, DType::f16);
        const auto entered = region.enter();
        EXPECT_EQ(call().dtype(), inside);
    }
}

TEST(Products, M9InPlaceFormsHaveNoEntrySoMixedTypesAreAnErrorInsideToo) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    const Tensor x = ones({2, 2}, wide_type), v = ones({2}, wide_type),
                 b = ones({1, 2, 2}, wide_type);
    const auto half = [](const Tensor& t) { return to(t, low_type); };
    const std::string texts[] = {
        dtype_error_text([&] { addmm_(x, half(x), half(x)); }),
        dtype_error_text([&] { baddbmm_(b, half(b), b); }),
        dtype_error_text([&] { addbmm_(x, b, half(b)); }),
        dtype_error_text([&] { addmv_(v, half(x), v); }),
        dtype_error_text([&] { linalg_cross(ones({3}, wide_type), ones({3}, low_type)); })};
    const char* names[] = {"addmm_", "baddbmm_", "addbmm_", "addmv_", "linalg_cross"};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(texts[i].find(names[i]), 0u) << texts[i];
        EXPECT_NE(texts[i].find("f32"), std::string::npos) << texts[i];
        EXPECT_NE(texts[i].find("f16"), std::string::npos) << texts[i];
        EXPECT_NE(texts[i].find("no entry"), std::string::npos) << texts[i];
    }
    // With operands of one type they compute in it, with or without a region.
    EXPECT_EQ(addmm_(x, x, x).dtype(), wide_type);
    EXPECT_EQ(x.values(), (std::vector<double>{3, 3, 3, 3}));
}

TEST(Products, AddrAndItsInPlaceFormPromoteWithoutARegion) {
    const Tensor v = ones({2}, low_type), c = ones({2, 2}, wide_type);
    EXPECT_EQ(addr(c, v, v).dtype(), wide_type);
    EXPECT_EQ(addr(Tensor::scalar(1, wide_type), v, v).dtype(), low_type);
    const Tensor x = ones({2, 2}, low_type);
    EXPECT_EQ(addr_(x, to(v, wide_type), v).dtype(), low_type);
    EXPECT_EQ(x.values(), (std::vector<double>{2, 2, 2, 2}));
    const AutocastRegion region(here, true, DType::bf16);
    const auto entered = region.enter();
    EXPECT_EQ(addr(c, v, v).dtype(), DType::bf16);
    EXPECT_EQ(outer(to(v, wide_type), to(v, wide_type)).dtype(), wide_type);
}

TEST(Products, WithAlphaZeroInfinitiesReachTheGradientsAlone) {
    Tensor a = Tensor::full({1, 2, 2}, INFINITY, wide_type);
    a.set_requires_grad(true);
    Tensor b = Tensor::of({1, 2, 3, 4}, {1, 2, 2}, wide_type);
    b.set_requires_grad(true);
    const Tensor c = Tensor::of({5, 6, 7, 8}, {1, 2, 2}, wide_type);
    const Tensor y = baddbmm(c, a, b, 1, 0);
    EXPECT_EQ(y.values(), c.values());
    backward(sum(y));
    for (const double d : b.grad().values()) EXPECT_TRUE(std::isnan(d));  // 0 times infinity
    EXPECT_EQ(a.grad().values(), (std::vector<double>{0, 0, 0, 0}));
    // addr is not a BLAS call in PyTorch: with alpha 0 it still reads its vectors.
    const Tensor v = Tensor::of({INFINITY, 1}, {2}, wide_type), one = ones({1}, wide_type);
    const auto rank_one = addr(ones({2, 1}, wide_type), v, one, 1, 0).values();
    EXPECT_TRUE(std::isnan(rank_one[0]));
    EXPECT_EQ(rank_one[1], 1);
}

TEST(Products, TheOrderOfAProductOfThreeIsPyTorchs) {
    // x1 is multiplied by the weight first: 4 2^127 overflows, 2^-10 2^127 does not.
    const double big = 0x1p127;
    const Tensor x1 = Tensor::of({4}, {1, 1}, wide_type),
                 x2 = Tensor::of({0x1p-10}, {1, 1}, wide_type);
    const Tensor weight = Tensor::of({big}, {1, 1, 1}, wide_type);
    EXPECT_EQ(bilinear(x1, x2, weight).item(), INFINITY);
    EXPECT_EQ(bilinear(x2, x1, weight).item(), 0x1p119);
    // Two orders have the same cost: the one from the left is taken.
    const Tensor left = Tensor::of({0, 0, 0, 0, 0, 0, 0, 0, big}, {3, 3}, wide_type);
    const Tensor middle = Tensor::of({0, 0, 0, 0, 4, 0}, {3, 2}, wide_type);
    const Tensor right = Tensor::of({0x1p-10, 0, 0, 1}, {2, 2}, wide_type);
    EXPECT_EQ(linalg_multi_dot({left, middle, right}).values()[4], INFINITY);
}

TEST(Products, WithBetaZeroTheAddendIsNotRead) {
    const Tensor nan = Tensor::full({2, 2}, NAN, wide_type), a = ones({2, 2}, wide_type);
    const std::vector<double> fours{4, 4, 4, 4};
    EXPECT_EQ(addbmm(nan, ones({2, 2, 2}, wide_type), ones({2, 2, 2}, wide_type), 0).values(),
              fours);
    EXPECT_EQ(baddbmm(nan, ones({1, 2, 2}, wide_type), ones({1, 2, 2}, wide_type), 0, 2).values(),
              fours);
    EXPECT_EQ(addr(nan, ones({2}, wide_type), ones({2}, wide_type), 0, 4).values(), fours);
    EXPECT_EQ(addmv(ones({2}, wide_type), a, ones({2}, wide_type), 0, 2).values(),
              (std::vector<double>{4, 4}));
}

TEST(Products, ABatchIsAddedUpInOneF32Sum) {
    // 2049 is not an f16 number: an f16 sum would lose each single addition.
    const Tensor b1 = Tensor::of({2048, 1, 1}, {3, 1, 1}, low_type), b2 = ones({3, 1, 1}, low_type);
    EXPECT_EQ(addbmm(Tensor::zeros({1, 1}, low_type), b1, b2).item(), 2050);
    EXPECT_EQ(linalg_vecdot(reshape(b1, {3}), reshape(b2, {3})).item(), 2050);
    // A scaled sum is rounded after scaling: 40000 + 40000 overflows f16 before.
    EXPECT_EQ(addmv(Tensor::zeros({1}, low_type), Tensor::full({1, 2}, 200, low_type),
                    Tensor::full({2}, 200, low_type), 1, 0.5)
                  .item(),
              40000);
}

TEST(Products, AChainIsMultipliedInTheCheapestOrder) {
    // Computing (300 x 1)(1 x 300) first would overflow f16: 300 * 300.
    const Tensor column = Tensor::full({30, 1}, 300, low_type),
                 row = Tensor::full({1, 30}, 300, low_type),
                 small = Tensor::full({30, 1}, 1.0 / 1024, low_type);
    const double expected = 300 * (300 * 30 / 1024.0);
    EXPECT_NEAR(chain_matmul({column, row, small}).values()[0], expected, 2);
    EXPECT_EQ(chain_matmul({column}).shape(), column.shape());
    EXPECT_THROW(chain_matmul({}), Error);
    EXPECT_THROW(linalg_multi_dot({column}), Error);
    EXPECT_THROW(linalg_multi_dot({column, small}), Error);
}

TEST(Products, TensordotOfF32StaysF32InARegion) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    const Tensor x = Tensor::full({1, 1}, 2049, wide_type);
    EXPECT_EQ(tensordot(x, ones({1, 1}, wide_type), 1).item(), 2049);
    EXPECT_EQ(matmul(x, ones({1, 1}, wide_type)).item(), 2048);
    EXPECT_EQ(tensordot(to(x, low_type), ones({1, 1}, low_type), 1).dtype(), low_type);
}

TEST(Products, TheBiasOfBilinearIsCastButNotAsked) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    const Tensor x = ones({1, 2}, low_type), weight = ones({1, 2, 2}, low_type);
    const Tensor bias = Tensor::full({1}, 2049, wide_type);
    EXPECT_EQ(bilinear(x, x, weight, bias).dtype(), low_type);
    EXPECT_EQ(bilinear(to(x, wide_type), x, weight, bias).item(), 2053);
    // The other 16-bit type is accepted here, although it would be rejected for an operand.
    EXPECT_EQ(bilinear(x, x, weight, to(bias, DType::bf16)).dtype(), low_type);
    EXPECT_THROW(bilinear(x, x, to(weight, DType::bf16), bias), Error);
}

TEST(Products, EinsumReadsItsNotation) {
    const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}), y = Tensor::of({1, 2, 3}, {3});
    EXPECT_EQ(einsum("ij->ji", {x}).values(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(einsum("ba", {x}).shape(), (Shape{3, 2}));  // letters in alphabetical order
    EXPECT_EQ(einsum("aB", {x}).shape(), (Shape{3, 2}));  // capitals first
    EXPECT_EQ(einsum(" i j , j -> i ", {x, y}).values(), (std::vector<double>{14, 32}));
    EXPECT_EQ(einsum("...j,j", {x, y}).values(), (std::vector<double>{14, 32}));
    EXPECT_EQ(einsum("...->", {x}).item(), 21);
    EXPECT_EQ(einsum("ii->i", {reshape(narrow(reshape(x, {6}), 0, 0, 4), {2, 2})}).values(),
              (std::vector<double>{1, 4}));
    EXPECT_EQ(einsum("i,i,i->", {y, y, y}).item(), 36);
    EXPECT_EQ(einsum(",i->i", {Tensor::scalar(2, wide_type), y}).values(),
              (std::vector<double>{2, 4, 6}));
    EXPECT_EQ(einsum("ij,ij->ij", {x, Tensor::of({1, 10, 100}, {1, 3})}).values(),
              (std::vector<double>{1, 20, 300, 4, 50, 600}));
}

TEST(Products, EinsumSaysWhatIsWrongWithAnEquation) {
    const Tensor x = ones({2, 3}, wide_type);
    for (const char* equation : {"ij,jk->ik", "i->i", "ij->k", "ij->ii", "i1->i", "ijk", "ij..->i",
                                 "...ij...->ij", "ii->i", "ij->ij->i", ""}) {
        EXPECT_THROW(einsum(equation, {x}), Error) << equation;
    }
    EXPECT_THROW(einsum("ij,jk", {x, x}), Error);  // one label, two sizes
    EXPECT_THROW(einsum("", {}), Error);
}

TEST(Products, EinsumCastsOnceAndThenNothingInsideCastsAgain) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    // A sum with one operand, if it were dispatched by its own entry, would be f32.
    const Tensor y = einsum("ij->i", {ones({2, 3}, wide_type)});
    EXPECT_EQ(y.dtype(), low_type);
    EXPECT_EQ(einsum("ij,kl->", {ones({2, 3}, wide_type), ones({2, 2}, low_type)}).dtype(),
              low_type);
}

TEST(Products, CrossTakesTheFirstDimensionOfSizeThree) {
    const Tensor x = Tensor::of({1, 0, 0, 0, 1, 0}, {2, 3}), y = Tensor::of({0, 1, 0}, {1, 3});
    EXPECT_EQ(cross(x, y).values(), (std::vector<double>{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(linalg_cross(x, y).values(), cross(x, y, 1).values());
    EXPECT_THROW(cross(ones({2, 4}, wide_type), ones({2, 4}, wide_type)), Error);
    EXPECT_THROW(cross(x, reshape(y, {3})), Error);
}

TEST(Products, KronOfDifferentRanksAndLinearWithOneRowOfWeights) {
    const Tensor a = Tensor::of({1, 10}, {2}), b = Tensor::of({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(kron(a, b).values(), (std::vector<double>{1, 2, 10, 20, 3, 4, 30, 40}));
    EXPECT_EQ(kron(to(a, low_type), b).dtype(), wide_type);
    EXPECT_THROW(kron(ones({1, 1, 1, 1, 1}, wide_type), a), Error);
    EXPECT_EQ(linear(b, a).values(), (std::vector<double>{21, 43}));
    EXPECT_EQ(linear(a, a).shape(), Shape{});
    EXPECT_THROW(linear(b, a, ones({1}, wide_type)), Error);
}

TEST(Products, EmptySumsAreZeroAndEmptyBatchesAreEmpty) {
    const Tensor c = ones({2, 3}, wide_type);
    EXPECT_EQ(addbmm(c, ones({0, 2, 4}, wide_type), ones({0, 4, 3}, wide_type), 2).values(),
              std::vector<double>(6, 2.0));
    EXPECT_EQ(baddbmm(c, ones({0, 2, 4}, wide_type), ones({0, 4, 3}, wide_type)).shape(),
              (Shape{0, 2, 3}));
    EXPECT_EQ(einsum("ij,jk->ik", {ones({2, 0}, wide_type), ones({0, 1}, wide_type)}).values(),
              (std::vector<double>{0, 0}));
    EXPECT_EQ(tensordot(ones({2, 0}, wide_type), ones({0, 1}, wide_type), 1).values(),
              (std::vector<double>{0, 0}));
}

TEST(Products, InPlaceFormsTakeTheirPlaceInTheGraph) {
    Tensor leaf = ones({2, 2}, wide_type);
    leaf.set_requires_grad(true);
    EXPECT_THROW(addmm_(leaf, ones({2, 2}, wide_type), ones({2, 2}, wide_type)), Error);
    Tensor a = Tensor::full({2, 2}, 2, wide_type);
    a.set_requires_grad(true);
    const Tensor x = ones({2, 2}, wide_type);
    backward(sum(addmm_(x, a, x, 0.5, 3)));  // x appears on both sides: its old values are read
    EXPECT_EQ(x.values(), std::vector<double>(4, 12.5));
    EXPECT_EQ(a.grad().values(), std::vector<double>(4, 6.0));
}

}  // namespace
}  // namespace engine
