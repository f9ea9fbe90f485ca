#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "network_twin.h"

// Initial weights have the distributions of torch.nn.init.
namespace engine::test {
namespace {

struct Moments {
    double mean = 0, deviation = 0, least = 0, largest = 0;
};

Moments moments(const Tensor& tensor) {
    const std::vector<double> values = tensor.values();
    Moments out;
    for (const double value : values) out.mean += value / static_cast<double>(values.size());
    for (const double value : values) out.deviation += (value - out.mean) * (value - out.mean) / static_cast<double>(values.size());
    out.deviation = std::sqrt(out.deviation);
    const auto [least, largest] = std::ranges::minmax(values);
    out.least = least;
    out.largest = largest;
    return out;
}

constexpr std::int64_t ins = 500, outs = 2000;

/// 10^6 numbers, (2000, 500), by this rule.
Tensor drawn_by(const std::string& rule) {
    const auto model = written_model(written("network(features)", "fc: Linear(outputs, bias=false, init=" + rule + ")"), features(ins, outs), {}, 3);
    return model->parameters().front().tensor;
}

void expect_moments(const std::string& rule, double deviation, double bound) {
    SCOPED_TRACE(rule);
    const Moments found = moments(drawn_by(rule));
    // Five standard deviations of a mean, and of a deviation, of 10^6 numbers.
    EXPECT_NEAR(found.mean, 0, 0.005 * deviation);
    EXPECT_NEAR(found.deviation, deviation, 0.005 * deviation);
    EXPECT_LE(std::max(-found.least, found.largest), bound * (1 + 1e-6));
    if (bound >= 4 * deviation) return;
    EXPECT_GE(std::min(-found.least, found.largest), bound * 0.999);
}

void expect_uniform(const std::string& rule, double bound) { expect_moments(rule, bound / std::sqrt(3.0), bound); }
void expect_normal(const std::string& rule, double deviation) { expect_moments(rule, deviation, 7 * deviation); }

TEST(NetworkModelInitial, RulesHaveTheirFormulas) {
    expect_uniform("uniform(0.3)", 0.3);
    expect_normal("normal(0.02)", 0.02);
    expect_uniform("xavier_uniform", std::sqrt(6.0 / (ins + outs)));
    expect_normal("xavier_normal", std::sqrt(2.0 / (ins + outs)));
    expect_uniform("kaiming_uniform(fan_in, relu)", std::sqrt(6.0 / ins));
    expect_uniform("kaiming_uniform(fan_out, linear)", std::sqrt(3.0 / outs));
    expect_normal("kaiming_normal(fan_in, linear)", std::sqrt(1.0 / ins));
    expect_normal("kaiming_normal(fan_out, relu)", std::sqrt(2.0 / outs));
    for (const auto& [rule, value] : {std::pair("zeros", 0.0), {"ones", 1.0}, {"constant(-0.5)", -0.5}}) {
        const Moments found = moments(drawn_by(rule));
        EXPECT_EQ(found.least, value);
        EXPECT_EQ(found.largest, value);
    }
}

TEST(NetworkModelInitial, TruncatedNormalEndsAtTwo) {
    expect_normal("trunc_normal(0.02)", 0.02);
    // A standard normal distribution that ends at -2 and 2 has this deviation.
    const double phi = std::exp(-2.0) / std::sqrt(2 * M_PI), inside = std::erf(2 / std::sqrt(2.0));
    expect_moments("trunc_normal(1)", std::sqrt(1 - 2 * 2 * phi / inside), 2);
    // Nearly uniform.
    expect_moments("trunc_normal(40)", 2 / std::sqrt(3.0), 2);
}

TEST(NetworkModelInitial, OrthogonalRowsOrColumnsHaveLengthOne) {
    for (const auto& [in, out] : {std::pair<std::int64_t, std::int64_t>{7, 30}, {30, 7}, {9, 9}}) {
        const auto model = written_model(written("network(features)", "fc: Linear(outputs, init=orthogonal)"), features(in, out));
        const std::vector<double> weight = model->parameters().front().tensor.values();
        const bool rows = out <= in;
        const std::int64_t count = rows ? out : in, length = rows ? in : out;
        const auto at = [&](std::int64_t vector, std::int64_t i) { return weight[static_cast<std::size_t>(rows ? vector * in + i : i * in + vector)]; };
        for (std::int64_t a = 0; a < count; ++a)
            for (std::int64_t b = 0; b < count; ++b) {
                double product = 0;
                for (std::int64_t i = 0; i < length; ++i) product += at(a, i) * at(b, i);
                EXPECT_NEAR(product, a == b ? 1 : 0, 1e-6);
            }
        EXPECT_NEAR(moments(model->parameters().front().tensor).mean, 0, 0.15);
    }
}

TEST(NetworkModelInitial, ALayersOwnRuleComesBeforeTheLineAndThatBeforePyTorchs) {
    const std::string text = "init Linear.weight = constant(2)\ninit Linear.bias = ones\nnetwork(features):\n  a: Linear(3)\n  b: Linear(3, init=zeros, bias_init=constant(4))\n  n: LayerNorm\n  fc: Linear(outputs)\n";
    const auto model = written_model(text, features(5, 2));
    const auto first = [&](const std::string& name) { return parameter(*model, name).values().front(); };
    EXPECT_EQ(first("a.weight"), 2);
    EXPECT_EQ(first("a.bias"), 1);
    EXPECT_EQ(first("b.weight"), 0);
    EXPECT_EQ(first("b.bias"), 4);
    EXPECT_EQ(first("n.weight"), 1);
    EXPECT_EQ(first("n.bias"), 0);
}

}  // namespace
}  // namespace engine::test
