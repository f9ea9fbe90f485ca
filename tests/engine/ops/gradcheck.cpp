#include "gradcheck.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "needs_cuda.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "support/element.h"
#include "support/here.h"
#include "tensor/philox.h"

namespace engine {
namespace {

// Central differences with step h err by h^2 f'''/6 and, from rounding, by eps |f| / h. With h =
// 1e-5 and values of order 10 both are near 1e-10. Sums of dozens of terms lose two digits.
constexpr double step = 1e-5;
constexpr double tolerance = 2e-6;

double weighted(const Tensor& y, const Tensor& w) {
    const GradMode off(false);
    return sum(mul(y, w)).item();
}

Tensor weights_for(const Tensor& y, std::uint32_t seed) {
    return random_tensor(y.shape(), DType::f64, seed);
}

/// The number of elements of a tensor that are checked on the simulated device. Elsewhere all are.
constexpr std::int64_t max_simulated = 8;

struct Difference {
    std::int64_t element;
    double value;
};

/// d value / d x[j] by central differences, for every element; on the simulated device for some
/// that are evenly spread.
std::vector<Difference> differences(const Tensor& x, const std::function<double()>& value) {
    std::vector<Difference> out;
    const auto values = x.values();
    const std::int64_t apart = here == Device::Kind::cuda && is_simulated_device()
                                   ? (x.numel() + max_simulated - 1) / max_simulated
                                   : 1;
    for (std::int64_t j = 0; j < x.numel(); j += apart) {
        const double at = values[static_cast<std::size_t>(j)];
        set_element(x, j, at + step);
        const double above = value();
        set_element(x, j, at - step);
        const double below = value();
        set_element(x, j, at);
        out.push_back({j, (above - below) / (2 * step)});
    }
    return out;
}

void expect_agrees(const Tensor& gradient, const Tensor& x, const std::vector<Difference>& numeric,
                   const std::string& which) {
    ASSERT_EQ(gradient.shape(), x.shape()) << which;
    ASSERT_EQ(gradient.dtype(), x.dtype()) << which;
    const auto analytic = gradient.values();
    for (const Difference& d : numeric) {
        EXPECT_NEAR(analytic[static_cast<std::size_t>(d.element)], d.value,
                    tolerance * (1 + std::abs(d.value)))
            << which << ", element " << d.element;
    }
}

}  // namespace

Tensor random_tensor(const Shape& shape, DType dtype, std::uint32_t seed, double low, double high) {
    const RandomStream stream(seed, StreamId::bench);
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
        const double u = stream.at(static_cast<std::uint64_t>(i)) * 0x1p-32;
        values.push_back(low + (high - low) * u);
    }
    return Tensor::of(values, shape, dtype);
}

void expect_gradients(const Function& f, const TensorList& inputs) {
    const Tensor y = f(inputs);
    const Tensor w = weights_for(y, 901);
    TensorList wanted;
    for (const auto& x : inputs) {
        if (x.defined() && x.requires_grad()) wanted.push_back(x);
    }
    const TensorList found = grad({&y, 1}, wanted, {&w, 1}, {}, true);
    const auto value = [&] {
        const GradMode off(false);
        return weighted(f(inputs), w);
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Tensor analytic =
            found[i].defined() ? found[i] : Tensor::zeros(wanted[i].shape(), DType::f64);
        expect_agrees(analytic, wanted[i], differences(wanted[i], value),
                      "input " + std::to_string(i));
    }
}

void expect_second_gradients(const Function& f, const TensorList& inputs) {
    TensorList wanted;
    for (const auto& x : inputs) {
        if (x.defined() && x.requires_grad()) wanted.push_back(x);
    }
    const std::size_t count = wanted.size();
    wanted.push_back(weights_for(f(inputs), 902).set_requires_grad(true));
    const Tensor& dy = wanted.back();
    // The sum of all gradients, times random weights, as a function of the inputs and of dy.
    const auto combined = [&] {
        const Tensor y = f(inputs);
        const TensorList grads =
            grad({&y, 1}, std::span(wanted).first(count), {&dy, 1}, {.create_graph = true}, true);
        Tensor total = Tensor::zeros({}, DType::f64);
        for (std::size_t i = 0; i < count; ++i) {
            if (!grads[i].defined()) continue;
            const auto seed = static_cast<std::uint32_t>(910 + i);
            total = add(total, sum(mul(grads[i], weights_for(grads[i], seed))));
        }
        return total;
    };
    const Tensor total = combined();
    ASSERT_TRUE(total.requires_grad());
    const TensorList second = grad({&total, 1}, wanted, {}, {}, true);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto numeric = differences(wanted[i], [&] { return combined().item(); });
        const Tensor analytic =
            second[i].defined() ? second[i] : Tensor::zeros(wanted[i].shape(), DType::f64);
        expect_agrees(analytic, wanted[i], numeric,
                      i < count ? "input " + std::to_string(i) : std::string("grad_output"));
    }
}

void expect_close(const Tensor& got, const Tensor& expected, double bound) {
    ASSERT_EQ(got.shape(), expected.shape());
    const auto a = got.values(), b = expected.values();
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(b[i])) {
            EXPECT_TRUE(std::isnan(a[i])) << "element " << i << " is " << a[i];
        } else if (std::isinf(b[i])) {
            EXPECT_EQ(a[i], b[i]) << "element " << i;
        } else {
            EXPECT_NEAR(a[i], b[i], bound * (1 + std::abs(b[i]))) << "element " << i;
        }
    }
}

}  // namespace engine
