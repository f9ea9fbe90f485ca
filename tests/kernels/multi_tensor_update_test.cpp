// The optimizers that update each element by itself, on the CPU.
#include <gtest/gtest.h>

#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_update.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/update_types.h"

namespace kernels::test {
namespace {

struct Parameter {
    Parameter(DType master_type, DType grad_type, DType state_type, DType low_type,
              std::int64_t size)
        : master(random_buffer(master_type, size, 1)),
          grad(random_buffer(grad_type, size, 2, 0, 10)),
          state1(random_buffer(state_type, size, 3)),
          state2(random_buffer(state_type, size, 4, 2, 0.1)),
          low(low_type, size) {}
    UpdateTensor tensor(bool with_low) {
        Array copy = low;
        if (!with_low) copy.data = nullptr;
        return {master, grad, state1, state2, copy};
    }
    Buffer master, grad, state1, state2, low;
};

struct Scalars {
    float lr = 0.01f, scale = 8, clip = 0.5f, found_inf = 0;
    std::int64_t step = 3;
    UpdateScalars all(bool write_grads = false) const {
        return {&lr, &scale, &clip, &found_inf, &step, &step, write_grads};
    }
};

struct Values {
    double p, g, state1, state2;
};

Values sgd_reference(Values v, const SgdOptions& o, const Scalars& s) {
    v.g = v.g / static_cast<double>(s.scale) * static_cast<double>(s.clip);
    double d = v.g + o.weight_decay * v.p;
    v.state1 = o.dampening != 0 && s.step <= 1 ? d : o.momentum * v.state1 + (1 - o.dampening) * d;
    d = o.nesterov ? d + o.momentum * v.state1 : v.state1;
    v.p -= static_cast<double>(s.lr) * d;
    return v;
}

Values adam_reference(Values v, const AdamOptions& o, const Scalars& s) {
    const auto lr = static_cast<double>(s.lr);
    v.g = v.g / static_cast<double>(s.scale) * static_cast<double>(s.clip);
    const double d = o.decoupled ? v.g : v.g + o.weight_decay * v.p;
    if (o.decoupled) v.p *= 1 - lr * o.weight_decay;
    v.state1 = o.beta1 * v.state1 + (1 - o.beta1) * d;
    v.state2 = o.beta2 * v.state2 + (1 - o.beta2) * d * d;
    const double c1 = 1 - std::pow(o.beta1, static_cast<double>(s.step));
    const double c2 = 1 - std::pow(o.beta2, static_cast<double>(s.step));
    v.p -= lr * (v.state1 / c1) / (std::sqrt(v.state2 / c2) + o.eps);
    return v;
}

/// At most eight f32 (f64) roundings, each of a value of about 10, and that of the storage.
double update_slack(DType master) { return 8 * 10 * (master == DType::f64 ? 0x1p-53 : 0x1p-24); }

template <class Reference>
void expect_update(const Parameter& before, Parameter& after, bool with_low,
                   const Reference& reference) {
    const double slack = update_slack(before.master.dtype());
    for (std::int64_t i = 0; i < before.master.size(); ++i) {
        const Values v = reference(Values{before.master.get(i), before.grad.get(i),
                                          before.state1.get(i), before.state2.get(i)});
        ASSERT_TRUE(near(after.master.get(i), v.p, after.master.dtype(), slack));
        ASSERT_TRUE(near(after.state1.get(i), v.state1, after.state1.dtype(), slack));
        if (with_low) {
            ASSERT_EQ(after.low.get(i), stored(after.low.dtype(), after.master.get(i)));
        }
    }
}

TEST(Sgd, FollowsItsFormulaForEveryTypeAndOption) {
    on_every_target([] {
        for (const Types& t : type_sets)
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                for (const SgdOptions& o :
                     {SgdOptions{.momentum = 0.9, .weight_decay = 0.1},
                      SgdOptions{.momentum = 0.9, .nesterov = true},
                      SgdOptions{.momentum = 0.9, .dampening = 0.25, .weight_decay = 0.1},
                      SgdOptions{.momentum = 0.9,
                      .dampening = 0.25,
                      .weight_decay = 0.1,
                      .nesterov = true}})
                    for (std::int64_t step : {1, 3}) {
                        const Parameter before(t.master, t.grad, t.state, t.low, size);
                        Parameter after = before;
                        Scalars s;
                        s.step = step;
                        const std::vector<UpdateTensor> tensors = {after.tensor(true)};
                        cpu::multi_tensor_sgd(tensors, o, s.all(), nullptr, {});
                        expect_update(before, after, true,
                                      [&](Values v) { return sgd_reference(v, o, s); });
                        EXPECT_EQ(after.grad.bytes(), before.grad.bytes());
                    }
    });
}

TEST(Sgd, MatchesPyTorchBitForBitInF32) {
    // torch.optim.SGD(lr=0.1, momentum=0.9, weight_decay=0.05): two steps whose arithmetic is exact
    // in f32 except for the last operation. Computed here in double, like torch's CPU kernel.
    Buffer p(DType::f32, {1.5}), g(DType::f32, {0.25}), buffer(DType::f32, {0});
    const float lr = 0.125f;
    const SgdOptions options{.momentum = 0.5, .weight_decay = 0.0625};
    const std::vector<UpdateTensor> tensors = {
        {p, g, buffer, {nullptr, DType::f32, 0}, {nullptr, DType::f16, 0}}};
    cpu::multi_tensor_sgd(tensors, options, {&lr}, nullptr, {});
    EXPECT_EQ(buffer.get(0), 0.34375);
    EXPECT_EQ(p.get(0), 1.5 - 0.125 * 0.34375);
    const double decayed = 0.25 + 0.0625 * p.get(0);
    const double p1 = p.get(0);
    cpu::multi_tensor_sgd(tensors, options, {&lr}, nullptr, {});
    EXPECT_EQ(buffer.get(0), 0.171875 + decayed);
    EXPECT_EQ(p.get(0), p1 - 0.125 * (0.171875 + decayed));
}

TEST(Sgd, WithoutMomentumNeedsNoState) {
    Parameter t(DType::f32, DType::f32, DType::f32, DType::f16, 33);
    const Parameter before = t;
    UpdateTensor tensor = t.tensor(false);
    tensor.state1.data = tensor.state2.data = nullptr;
    const Scalars s;
    const std::vector<UpdateTensor> tensors = {tensor};
    cpu::multi_tensor_sgd(tensors, {}, s.all(), nullptr, {});
    for (std::int64_t i = 0; i < 33; ++i) {
        const double g = before.grad.get(i) / 16;  // scale 8, clip 1/2: exact
        ASSERT_NEAR(t.master.get(i), before.master.get(i) - static_cast<double>(s.lr) * g,
                    update_slack(DType::f32));
    }
}

/// Only rows 3 and 2,500 of a table of 5,000 rows of 8 have a gradient; -0 in the weights and in
/// the gradient, and a NaN weight, are where a value left alone would differ from one computed.
TEST(Sgd, LeavesTheBitsOfWeightsWithoutAGradientAsTheFormulaDoes) {
    constexpr std::int64_t size = 40000;
    Buffer p = random_buffer(DType::f32, size, 1), g(DType::f32, size);
    p.set(100, -0.0);
    p.set(20001, std::numeric_limits<double>::quiet_NaN());
    for (const std::int64_t row : {3, 2500})
        for (std::int64_t i = 0; i < 8; ++i) g.set(row * 8 + i, static_cast<double>(i) + 0.5);
    p.set(30000, -0.0);
    g.set(30000, -0.0);
    const Buffer before = p;
    const Array none{nullptr, DType::f32, 0};
    const std::vector<UpdateTensor> tensors = {{p, g, none, none, none}};
    float lr = 0.25f;
    const auto update = [&] {
        cpu::multi_tensor_sgd(tensors, {}, {.lr = &lr}, nullptr, {});
        return p.bytes();
    };
    Buffer expected = before;
    for (std::int64_t i = 0; i < size; ++i)
        if (i != 20001) expected.set(i, std::fma(-0.25, g.get(i), before.get(i)));
    EXPECT_EQ(update(), expected.bytes());
    EXPECT_EQ(std::signbit(p.get(30000)), false) << "-0 less -0 is 0";

    lr = -0.25f;  // 0 less -0: a negative zero becomes positive
    (void)update();
    EXPECT_FALSE(std::signbit(p.get(100)));
    lr = std::numeric_limits<float>::infinity();  // times 0 it is NaN
    (void)update();
    EXPECT_TRUE(std::isnan(p.get(5)));
}

TEST(Adam, FollowsItsFormulaForEveryTypeAndOption) {
    on_every_target([] {
        for (const Types& t : type_sets)
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                for (bool decoupled : {true, false}) {
                    AdamOptions o;
                    o.weight_decay = 0.1;
                    o.decoupled = decoupled;
                    const Parameter before(t.master, t.grad, t.state, t.low, size);
                    Parameter after = before;
                    const Scalars s;
                    const std::vector<UpdateTensor> tensors = {after.tensor(true)};
                    cpu::multi_tensor_adam(tensors, o, s.all(), nullptr, {});
                    expect_update(before, after, true,
                                  [&](Values v) { return adam_reference(v, o, s); });
                }
    });
}

TEST(Update, WritesNothingAtAllWhenAGradientWasNotFinite) {
    for (const Types& t : type_sets) {
        const Parameter before(t.master, t.grad, t.state, t.low, 100);
        Parameter after = before;
        Scalars s;
        s.found_inf = 1;
        const std::vector<UpdateTensor> tensors = {after.tensor(true)};
        cpu::multi_tensor_sgd(tensors, {.momentum = 0.9}, s.all(true), nullptr, {});
        cpu::multi_tensor_adam(tensors, {}, s.all(true), nullptr, {});
        EXPECT_EQ(after.master.bytes(), before.master.bytes());
        EXPECT_EQ(after.grad.bytes(), before.grad.bytes());
        EXPECT_EQ(after.state1.bytes(), before.state1.bytes());
        EXPECT_EQ(after.state2.bytes(), before.state2.bytes());
        EXPECT_EQ(after.low.bytes(), before.low.bytes());
    }
}

TEST(Update, WritesTheUnscaledAndClippedGradientWhereAsked) {
    for (const Types& t : type_sets) {
        const Parameter before(t.master, t.grad, t.state, t.low, 33);
        Parameter after = before;
        const Scalars s;
        const std::vector<UpdateTensor> tensors = {after.tensor(false)};
        cpu::multi_tensor_sgd(tensors, {.momentum = 0.9}, s.all(true), nullptr, {});
        // An update computes in f32 unless the master is f64.
        const DType wide = t.master == DType::f64 ? DType::f64 : DType::f32;
        for (std::int64_t i = 0; i < 33; ++i)
            ASSERT_EQ(after.grad.get(i), stored(t.grad, stored(wide, before.grad.get(i) / 16)));
    }
}

TEST(Update, CountsUpdatesThatDoNotChangeA16BitWeight) {
    // The weights are 1: half a unit below is 2^-12 for f16 (ties go to the even 1).
    Buffer p(DType::f16, {1, 1, 1, 1}), g(DType::f16, {0x1p-12, 0x1p-11, 0, 0x1p-20});
    const float lr = 1;
    const Array none{nullptr, DType::f16, 0};
    UpdateCounts counts{};
    const std::vector<UpdateTensor> tensors = {{p, g, none, none, none}};
    cpu::multi_tensor_sgd(tensors, {}, {&lr}, &counts, {});
    EXPECT_EQ(counts.nonzero, 3);
    EXPECT_EQ(counts.lost, 2);
    EXPECT_EQ(p.get(1), 1 - 0x1p-11);
}

TEST(Update, GivesTheSameBitsForEveryThreadCountOverManyTensors) {
    std::vector<Parameter> before;
    for (std::int64_t size : {100003, 10, 64, 50000, 0, 33})
        before.emplace_back(DType::f32, DType::f32, DType::f32, DType::f16, size);
    const Scalars s;
    const auto run = [&] {
        std::vector<Parameter> after = before;
        std::vector<UpdateTensor> tensors;
        for (Parameter& p : after) tensors.push_back(p.tensor(true));
        cpu::multi_tensor_adam(tensors, {}, s.all(), nullptr, {});
        return after;
    };
    cpu::set_threads(1);
    const auto expected = run();
    with_threads([&](int) {
        const auto after = run();
        for (std::size_t i = 0; i < after.size(); ++i) {
            EXPECT_EQ(after[i].master.bytes(), expected[i].master.bytes());
            EXPECT_EQ(after[i].low.bytes(), expected[i].low.bytes());
        }
    });
}

}  // namespace
}  // namespace kernels::test
