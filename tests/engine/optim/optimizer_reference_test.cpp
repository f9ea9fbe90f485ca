#include <algorithm>
#include <memory>
#include <optional>

#include "bounded.h"
#include "kernels/dtype.h"
#include "needs_cuda.h"
#include "optim_support.h"

namespace engine {
namespace {

// 100 updates, compared with a slow reference in double that carries its own error bound. The
// gradients are scaled by 1024, and every seventh update is skipped.

constexpr int reference_updates = 100;
constexpr double grad_scale = 1024;

struct ReferenceVariant {
    const char* name;
    std::optional<SgdOptions> sgd;  // else AdamW
    AdamOptions adamw{.weight_decay = 0.01, .decoupled = true};
    DType weights = DType::f32;
    std::int64_t largest = 4099;
};

std::ostream& operator<<(std::ostream& out, const ReferenceVariant& variant) {
    return out << variant.name;
}

/// One element of the reference.
struct Element {
    Bounded p, state1, state2;

    void sgd(double gradient, const SgdOptions& o, bool first) {
        const Bounded g{gradient, 0};
        const Bounded d = o.weight_decay != 0 ? rounded(g + constant(o.weight_decay) * p) : g;
        Bounded direction = d;
        if (o.momentum != 0) {
            state1 = first && o.dampening != 0 ? d
                                               : rounded(constant(1 - o.dampening) * d +
                                                         rounded(constant(o.momentum) * state1));
            direction = o.nesterov ? rounded(d + constant(o.momentum) * state1) : state1;
        }
        p = rounded(p - constant(o.lr) * direction);
    }

    void adam(double gradient, const AdamOptions& o, int step) {
        const Bounded g{gradient, 0};
        const Bounded lr = constant(o.lr);
        state1 = rounded(state1 + constant(1 - o.beta1) * rounded(g - state1));
        state2 =
            rounded(rounded(constant(1 - o.beta2) * g) * g + rounded(constant(o.beta2) * state2));
        const Bounded size = rounded(lr * Bounded{1 / (1 - std::pow(o.beta1, step)), 0});
        const Bounded correction = constant(std::sqrt(1 - std::pow(o.beta2, step)));
        const Bounded denominator =
            rounded(rounded(rounded(root(state2)) / correction) + constant(o.eps));
        const Bounded update = rounded(rounded(size * state1) / denominator);
        const Bounded decay = rounded(Bounded{1, 0} - Bounded{o.weight_decay, 0} * lr);
        p = rounded(rounded(p * decay) - update);
    }
};

/// The reference follows every element of a small tensor, and every 17th element of a large one: an
/// odd stride reaches every vector lane and block edge.
struct ReferenceTensor {
    explicit ReferenceTensor(const Tensor& weight_)
        : weight(weight_),
          stride(weight.numel() > 100000 ? 17 : 1),
          first(static_cast<std::size_t>(weight.numel() - 1) % stride) {
        const auto values = weight.values();
        for (std::size_t i = first; i < values.size(); i += stride) {
            elements.emplace_back();
            elements.back().p.value = values[i];
        }
    }

    Tensor weight;
    std::size_t stride, first;
    std::vector<Element> elements;
};

class OptimizerReference : public testing::TestWithParam<ReferenceVariant> {
protected:
    void SetUp() override {
        const ReferenceVariant& v = GetParam();
        Uniform draw(3, v.weights == DType::f32 ? 24 : 8);
        std::vector<Parameter> parameters;
        constexpr std::int64_t dozens_of_blocks = 78'011;
        const std::int64_t largest =
            is_simulated_device() ? std::min(v.largest, dozens_of_blocks) : v.largest;
        for (const std::int64_t size : {largest, {1}, {31}, {32}, {33}, {777}}) {
            tensors_.emplace_back(weight_of(draw.many(size), v.weights));
            parameters.push_back(
                {std::string("p").append(std::to_string(size)), tensors_.back().weight});
        }
        const OptimizerOptions options{.scaling_aware = true,
                                       .master_weights = v.weights != DType::f32};
        if (!v.sgd) {
            optimizer_ = std::make_unique<Adam>(parameters, v.adamw, options);
        } else {
            optimizer_ = std::make_unique<Sgd>(parameters, *v.sgd, options);
        }
        optimizer_->grad_scale = Tensor::full({}, grad_scale, DType::f32);
    }

    /// Sets new gradients. With `apply` the reference updates by them too.
    void give_gradients(bool apply, int step) {
        const ReferenceVariant& v = GetParam();
        for (auto& t : tensors_) {
            const auto gradients = gradient_.many(t.weight.numel());
            std::vector<double> scaled = gradients;
            for (auto& value : scaled) value *= grad_scale;
            t.weight.set_grad(Tensor::of(scaled, t.weight.shape(), v.weights));
            if (!apply) continue;
            for (std::size_t k = 0; k < t.elements.size(); ++k) {
                const double gradient = gradients[t.first + k * t.stride];
                if (v.sgd) {
                    t.elements[k].sgd(gradient, *v.sgd, step == 1);
                } else {
                    t.elements[k].adam(gradient, v.adamw, step);
                }
            }
        }
    }

    std::vector<std::vector<std::byte>> snapshot() const {
        std::vector<std::vector<std::byte>> out;
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            out.push_back(bytes_of(tensors_[i].weight));
            out.push_back(bytes_of(tensors_[i].weight.grad()));
            if (optimizer_->master(i).defined()) out.push_back(bytes_of(optimizer_->master(i)));
            for (const auto& [name, state] : optimizer_->state(i)) out.push_back(bytes_of(state));
        }
        return out;
    }

    void skip() {
        give_gradients(false, 0);
        const auto before = snapshot();
        const std::int64_t steps = optimizer_->steps();
        optimizer_->found_inf = Tensor::full({}, 1, DType::f32);
        optimizer_->step();
        optimizer_->found_inf = {};
        EXPECT_TRUE(snapshot() == before) << "a skipped step wrote something";
        EXPECT_EQ(optimizer_->steps(), steps);
    }

    void expect_within_bounds() const {
        double worst = 0, widest = 0;
        for (std::size_t k = 0; k < tensors_.size(); ++k) {
            const ReferenceTensor& t = tensors_[k];
            const Tensor master = optimizer_->master(k);
            const auto values = (master.defined() ? master : t.weight).values();
            for (std::size_t i = 0; i < t.elements.size(); ++i) {
                const Bounded& p = t.elements[i].p;
                const double apart = std::abs(values[t.first + i * t.stride] - p.value);
                // The bound uses 2^-24 of the reference and not of the rounded value. One percent
                // more covers the difference.
                ASSERT_LE(apart, 1.01 * p.error) << "element " << i << " of tensor " << k;
                worst = std::max(worst, apart);
                widest = std::max(widest, p.error);
            }
        }
        RecordProperty("worst_units", std::to_string(worst / unit));
        EXPECT_LT(widest, 1500 * unit) << "a bound that wide shows nothing";
        EXPECT_GT(worst, 0) << "f32 cannot equal the reference everywhere";
    }

    std::vector<ReferenceTensor> tensors_;
    std::unique_ptr<Optimizer> optimizer_;
    Uniform gradient_{5, 8};  // exact in every type, and when scaled
};

TEST_P(OptimizerReference, StaysWithinTheErrorBoundOver100UpdatesWithSkipsBetween) {
    for (int step = 1; step <= reference_updates; ++step) {
        if (step % 7 == 3) skip();
        give_gradients(true, step);
        optimizer_->step();
    }
    EXPECT_EQ(optimizer_->steps(), reference_updates);
    expect_within_bounds();
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
        const Tensor& weight = tensors_[k].weight;
        if (!optimizer_->master(k).defined()) continue;
        // The 16-bit weight is the master, rounded once.
        const Tensor rounded_master =
            Tensor::of(optimizer_->master(k).values(), weight.shape(), weight.dtype());
        EXPECT_TRUE(bytes_of(weight) == bytes_of(rounded_master));
    }
}

constexpr std::int64_t many_elements = 278011;  // enough work for several threads

std::vector<ReferenceVariant> reference_variants() {
    const SgdOptions momentum{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.0005};
    SgdOptions nesterov = momentum;
    nesterov.nesterov = true;
    return {
        {.name = "sgd", .sgd = SgdOptions{.lr = 0.05}},
        {.name = "sgd_decay", .sgd = SgdOptions{.lr = 0.05, .weight_decay = 0.01}},
        {.name = "sgd_momentum", .sgd = momentum, .largest = many_elements},
        {.name = "sgd_dampening", .sgd = SgdOptions{.lr = 0.05, .momentum = 0.9, .dampening = 0.3}},
        {.name = "sgd_nesterov", .sgd = nesterov},
        {.name = "sgd_f16_masters", .sgd = momentum, .weights = DType::f16},
        {.name = "sgd_bf16_masters", .sgd = nesterov, .weights = DType::bf16},
        {.name = "adamw", .sgd = {}, .largest = many_elements},
        {.name = "adamw_no_decay", .sgd = {}, .adamw = {.weight_decay = 0, .decoupled = true}},
        {.name = "adamw_f16_masters", .sgd = {}, .weights = DType::f16},
        {.name = "adamw_bf16_masters", .sgd = {}, .weights = DType::bf16},
    };
}

INSTANTIATE_TEST_SUITE_P(Variants, OptimizerReference, testing::ValuesIn(reference_variants()),
                         [](const testing::TestParamInfo<ReferenceVariant>& variant) {
                             return std::string(variant.param.name);
                         });

}  // namespace
}  // namespace engine
