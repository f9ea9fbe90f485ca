#include <gmock/gmock.h>

#include <functional>

#include "io/safetensors/tensor_file.h"
#include "ops/index/sparse.h"
#include "optim/optimizers.h"
#include "optim_support.h"
#include "temp_folder.h"
#include "tensor/restore.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

using Make =
    std::function<std::unique_ptr<Optimizer>(std::vector<Parameter>, const OptimizerOptions&)>;

template <class Kind, class Settings>
Make making(const Settings& settings, bool larc = false) {
    return [=](std::vector<Parameter> parameters, OptimizerOptions options) {
        options.larc.on = larc;
        return std::make_unique<Kind>(std::move(parameters), settings, options);
    };
}

struct StateVariant {
    const char* name;
    Make make;
    bool sparse = false;
};

std::ostream& operator<<(std::ostream& out, const StateVariant& variant) {
    return out << variant.name;
}

const SgdOptions dampened{.lr = 0.05, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01};

const StateVariant state_variants[] = {
    {"sgd", making<Sgd>(SgdOptions{.lr = 0.05, .weight_decay = 0.01})},
    {"sgd_dampened", making<Sgd>(dampened)},
    {"sgd_nesterov", making<Sgd>(SgdOptions{.lr = 0.05, .momentum = 0.9, .nesterov = true})},
    {"sgd_larc", making<Sgd>(dampened, /*larc=*/true)},
    {"adam", making<Adam>(AdamOptions{.weight_decay = 0.01})},
    {"adam_amsgrad", making<Adam>(AdamOptions{.beta2 = 0.5, .amsgrad = true})},
    {"adamw", making<Adam>(AdamOptions{.weight_decay = 0.01, .decoupled = true})},
    {"adamw_amsgrad", making<Adam>(AdamOptions{
                          .beta2 = 0.5, .weight_decay = 0.01, .amsgrad = true, .decoupled = true})},
    {"adagrad", making<Adagrad>(AdagradOptions{.lr_decay = 0.1, .initial_accumulator_value = 0.5})},
    {"lamb", making<Lamb>(LambOptions{})},
    {"lamb_l2", making<Lamb>(LambOptions{.decoupled = false, .nvlamb = true})},
    {"novograd", making<NovoGrad>(NovoGradOptions{.weight_decay = 0.01})},
    {"novograd_inside", making<NovoGrad>(NovoGradOptions{.weight_decay = 0.01,
                                                         .norm = kernels::NormKind::largest,
                                                         .init_zero = true,
                                                         .regularise_inside = true})},
    {"sparse_adam", making<SparseAdam>(AdamOptions{}), /*sparse=*/true},
};

struct WeightTypes {
    const char* name;
    DType dtype;
    bool masters = false;
};
const WeightTypes all_weights[] = {{"f32", DType::f32},
                                   {"f64", DType::f64},
                                   {"f16", DType::f16},
                                   {"bf16", DType::bf16},
                                   {"f16 with masters", DType::f16, true},
                                   {"bf16 with masters", DType::bf16, true}};

Tensor drawn(Uniform& draw, const Shape& shape, DType dtype, Layout layout = Layout::contiguous) {
    const Tensor values = Tensor::of(draw.many(shape.numel()), shape, dtype);
    const Tensor out = Tensor::empty(shape, dtype, default_device(), layout);
    fill({{"", out}}, {{"", values}});
    return out;
}

/// Four parameters in two groups, with gradients that depend only on the number of the update. "b"
/// has no gradient, and so no state, until update `late`. The last parameter is empty.
class Training {
public:
    static constexpr int late = 5;

    Training(const StateVariant& variant, const WeightTypes& weights, std::uint64_t seed)
        : variant_(variant), dtype_(weights.dtype) {
        Uniform draw(seed, 8);
        const auto of_seed = static_cast<double>(seed);  // what is loaded has to replace it
        add("a", drawn(draw, {33, 5}, dtype_));
        add("b", drawn(draw, {7, 1}, dtype_));
        add("c", variant.sparse ? drawn(draw, {4, 3}, dtype_)
                                : drawn(draw, {4, 3, 2, 2}, dtype_, Layout::channels_last));
        add("empty", drawn(draw, {0, 2}, dtype_));
        optimizer_ = variant.make({parameters_[0], parameters_[1]},
                                  {.scaling_aware = true, .master_weights = weights.masters});
        optimizer_->add_group({parameters_[2], parameters_[3]},
                              {.lr = 0.125 * of_seed, .weight_decay = 0.5 * of_seed});
    }

    void step(int number, bool skipped = false) {
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            const Tensor& w = parameters_[k].tensor;
            if (k == 1 && number < late) continue;
            Uniform draw(100 * static_cast<std::uint64_t>(number) + k + 1, 8);
            if (variant_.sparse && w.numel() != 0) {
                const Tensor rows = Tensor::of({2, 0, 2}, {1, 3}, DType::i64);
                w.set_grad(sparse_tensor(rows, drawn(draw, {3, w.size(1)}, dtype_), w.shape()));
            } else if (!variant_.sparse) {
                w.set_grad(drawn(draw, w.shape(), dtype_));
            }
        }
        // found_inf, set as the scaler does.
        optimizer_->found_inf = Tensor::full({}, skipped ? 1 : 0, DType::f32);
        optimizer_->step();
        optimizer_->zero_grad();
        optimizer_->set_lr(0.1 / number, 0);
    }
    /// Updates `first` to `last`. After every second update, one that is skipped.
    void steps(int first, int last) {
        for (int number = first; number <= last; ++number) {
            step(number);
            if (number % 2 == 0) step(1000 + number, /*skipped=*/true);
        }
    }

    TensorMap weights() const {
        TensorMap out;
        for (const Parameter& p : parameters_) out[p.name] = snapshot(p.tensor);
        return out;
    }
    void load_weights(const TensorMap& values) const {
        std::vector<Place> places;
        for (const Parameter& p : parameters_) places.push_back({p.name, p.tensor, true});
        fill(places, values);
    }
    Optimizer& optimizer() { return *optimizer_; }
    const Tensor& parameter(std::size_t k) const { return parameters_[k].tensor; }

private:
    void add(const char* name, Tensor tensor) {
        parameters_.push_back({name, tensor.set_requires_grad(true)});
    }

    const StateVariant& variant_;
    DType dtype_;
    std::vector<Parameter> parameters_;
    std::unique_ptr<Optimizer> optimizer_;
};

void expect_equal(const TensorMap& a, const TensorMap& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : a) {
        ASSERT_TRUE(b.contains(name)) << name;
        EXPECT_EQ(tensor.dtype(), b.at(name).dtype()) << name;
        EXPECT_TRUE(bytes_of(tensor) == bytes_of(b.at(name))) << name;
    }
}

class OptimizerState : public testing::TestWithParam<StateVariant> {};

constexpr int saved_at = 4, last = 9;
static_assert(saved_at < Training::late && Training::late < last);

TEST_P(OptimizerState, RestoredIntoAFreshOptimizerGoesOnBitForBit) {
    for (const WeightTypes& weights : all_weights) {
        for (const int steps_before_loading : {0, last}) {
            SCOPED_TRACE(std::string(weights.name) + ", after " +
                         std::to_string(steps_before_loading) + " updates of its own");
            Training whole(GetParam(), weights, 1), resumed(GetParam(), weights, 2);
            whole.steps(1, saved_at);
            const TensorMap saved = whole.optimizer().saved_state(), values = whole.weights();
            resumed.steps(1, steps_before_loading);
            resumed.load_weights(values);
            resumed.optimizer().load_state(saved);
            whole.steps(saved_at + 1, last);
            resumed.steps(saved_at + 1, last);
            expect_equal(resumed.weights(), whole.weights());
            expect_equal(resumed.optimizer().saved_state(), whole.optimizer().saved_state());
            EXPECT_EQ(resumed.optimizer().steps(1), last);
        }
    }
}

TEST_P(OptimizerState, SavedBeforeTheFirstUpdateStartsAnewAndAfterASkippedFirstOneToo) {
    for (const bool skip_first : {false, true}) {
        Training whole(GetParam(), all_weights[0], 1), used(GetParam(), all_weights[0], 2);
        if (skip_first) whole.step(1, /*skipped=*/true);
        const TensorMap saved = whole.optimizer().saved_state(), values = whole.weights();
        used.steps(1, last);
        used.load_weights(values);
        used.optimizer().load_state(saved);
        EXPECT_EQ(used.optimizer().steps(0), 0);
        whole.steps(1, last);
        used.steps(1, last);
        expect_equal(used.weights(), whole.weights());
        expect_equal(used.optimizer().saved_state(), whole.optimizer().saved_state());
    }
}

TEST_P(OptimizerState, IsACopyAndGoesThroughAFile) {
    const test_support::TempFolder folder;
    Training training(GetParam(), {"", DType::bf16, true}, 1);
    training.steps(1, saved_at);
    const TensorMap saved = training.optimizer().saved_state();
    save_tensors(folder / "optimizer.safetensors", saved);
    training.steps(saved_at + 1, last);
    const TensorMap read = load_tensors(folder / "optimizer.safetensors");
    expect_equal(read, saved);
    training.optimizer().load_state(read);
    EXPECT_TRUE(bytes_of(training.optimizer().saved_state().at("groups.steps")) ==
                bytes_of(saved.at("groups.steps")));
}

TEST_P(OptimizerState, LoadedStateKeepsItsMemory) {
    Training training(GetParam(), {"", DType::f16, true}, 1);
    training.steps(1, saved_at);
    const TensorMap saved = training.optimizer().saved_state();
    training.steps(saved_at + 1, last);
    Optimizer& optimizer = training.optimizer();
    const auto places = [&] {
        std::vector<const void*> out{optimizer.lr_tensor().data(), optimizer.steps_tensor().data()};
        for (std::size_t i = 0; i < optimizer.parameters().size(); ++i) {
            out.push_back(optimizer.master(i).data());
            for (const auto& [name, state] : optimizer.state(i)) out.push_back(state.data());
        }
        return out;
    };
    const auto before = places();
    optimizer.load_state(saved);
    EXPECT_EQ(places(), before);
}

INSTANTIATE_TEST_SUITE_P(Variants, OptimizerState, testing::ValuesIn(state_variants),
                         [](const testing::TestParamInfo<StateVariant>& variant) {
                             return std::string(variant.param.name);
                         });

std::vector<std::string> names_of(const TensorMap& saved) {
    std::vector<std::string> out;
    for (const auto& [name, tensor] : saved) out.push_back(name);
    return out;
}

TEST(OptimizerState, NamesWhatItHolds) {
    Training fresh(state_variants[5], {"", DType::f16, true}, 1);
    EXPECT_THAT(names_of(fresh.optimizer().saved_state()),
                UnorderedElementsAre("groups.lr", "groups.weight_decay", "groups.steps",
                                     "groups.parameters", "a.master", "b.master", "c.master",
                                     "empty.master"));
    fresh.step(1);
    const TensorMap saved = fresh.optimizer().saved_state();
    for (const char* name :
         {"a.exp_avg", "a.exp_avg_sq", "a.max_exp_avg_sq", "a.step", "c.exp_avg", "empty.exp_avg"})
        EXPECT_TRUE(saved.contains(name)) << name;
    EXPECT_FALSE(saved.contains("b.exp_avg")) << "it had no gradient";
    EXPECT_FALSE(saved.contains("b.step"));
    EXPECT_EQ(saved.at("groups.lr").dtype(), DType::f32);
    EXPECT_EQ(saved.at("groups.weight_decay").values(), (std::vector<double>{0, 0.5}));
    EXPECT_EQ(saved.at("groups.steps").values(), (std::vector<double>{1, 1}));
    EXPECT_EQ(saved.at("groups.parameters").values(), (std::vector<double>{2, 2}));
}

/// Loads a saved state modified by `change` into an optimizer with updates and into a new one. Both
/// must fail with these words and change nothing.
void expect_refused(const std::string& words, const std::function<void(TensorMap&)>& change) {
    SCOPED_TRACE(words);
    for (const int updates : {0, 3}) {
        Training source(state_variants[4], {"", DType::f16, true}, 1);
        source.steps(1, saved_at);
        TensorMap saved = source.optimizer().saved_state();
        change(saved);
        Training target(state_variants[4], {"", DType::f16, true}, 2);
        target.steps(1, updates);
        const TensorMap before = target.optimizer().saved_state();
        try {
            target.optimizer().load_state(saved);
            ADD_FAILURE() << "not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::value);
            EXPECT_THAT(error.what(), HasSubstr(words));
        }
        expect_equal(target.optimizer().saved_state(), before);
    }
}

TEST(OptimizerState, ThatDoesNotFitIsRefusedByNameAndChangesNothing) {
    const auto set = [](const char* name, const std::vector<double>& values, const Shape& shape,
                        DType dtype) {
        return [=](TensorMap& saved) { saved[name] = Tensor::of(values, shape, dtype); };
    };
    for (const char* name : {"a.exp_avg", "a.master", "a.step", "groups.steps"})
        expect_refused(std::string(name) + " is missing",
                       [=](TensorMap& saved) { saved.erase(name); });
    expect_refused("a.exp_avg_sq is missing", [](TensorMap& saved) {
        saved.erase("a.exp_avg");
        saved.erase("a.exp_avg_sq");
    });
    expect_refused("a.momentum_buffer is unknown", set("a.momentum_buffer", {1}, {1}, DType::f32));
    expect_refused("d.exp_avg is unknown", set("d.exp_avg", {1}, {1}, DType::f32));
    expect_refused("c.exp_avg has shape (2), not (4, 3, 2, 2)",
                   set("c.exp_avg", {1, 2}, {2}, DType::f32));
    expect_refused("empty.exp_avg is f64, not f32", set("empty.exp_avg", {}, {0, 2}, DType::f64));
    expect_refused("groups.lr is f64, not f32", set("groups.lr", {1, 1}, {2}, DType::f64));
    expect_refused("its groups are 1 in number, those of this optimizer 2",
                   set("groups.lr", {1}, {1}, DType::f32));
    expect_refused("its group 0 has 1 as its number of parameters, that of this optimizer 2",
                   set("groups.parameters", {1, 3}, {2}, DType::i64));
    expect_refused("groups.lr holds", set("groups.lr", {0.1, -0.1}, {2}, DType::f32));
    expect_refused("groups.weight_decay holds nan",
                   set("groups.weight_decay", {std::nan(""), 0}, {2}, DType::f64));
    expect_refused("groups.steps holds -1", set("groups.steps", {-1, 0}, {2}, DType::i64));
    expect_refused("a.step holds -1", set("a.step", {-1}, {}, DType::i64));
    expect_refused("a.step is f32, not i64", set("a.step", {1}, {}, DType::f32));
}

TEST(OptimizerState, OfTwoParametersWithOneNameIsRefused) {
    const Tensor u = weight_of({1}), v = weight_of({2});
    Sgd optimizer({{"w", u}, {"w", v}}, {.lr = 1, .momentum = 0.5});
    u.set_grad(weight_of({1}).detach());
    v.set_grad(weight_of({1}).detach());
    optimizer.step();
    try {
        optimizer.saved_state();
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::value);
        EXPECT_THAT(error.what(), HasSubstr("w.momentum_buffer"));
    }
}

}  // namespace
}  // namespace engine
