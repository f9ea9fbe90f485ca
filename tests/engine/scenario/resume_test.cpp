#include <gmock/gmock.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "io/safetensors/tensor_file.h"
#include "ops/loss/cross_entropy.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "scaler_support.h"
#include "small_net.h"
#include "support/here.h"
#include "temp_folder.h"
#include "tensor/cast.h"
#include "tensor/restore.h"

// A run that is saved and continued by new objects has the bits of a run that was not interrupted
// (X5).

namespace engine {
namespace {

constexpr int steps_before = 4, steps_after = 4;
constexpr int spoilt_before = 1, spoilt_after = 5;  // skipped with a dynamic scale

enum class OptimizerKind { sgd, adamw };

struct ResumeSetup {
    OptProperties level;
    std::size_t losses = 1;
    OptimizerKind kind = OptimizerKind::sgd;
};

/// The contents of a checkpoint, each part with a prefix.
using Checkpoint = TensorMap;

void put(Checkpoint& file, const std::string& prefix, const TensorMap& part) {
    for (const auto& [name, tensor] : part) file[prefix + name] = tensor;
}

TensorMap get(const Checkpoint& file, const std::string& prefix) {
    TensorMap part;
    for (const auto& [name, tensor] : file)
        if (name.starts_with(prefix)) part[name.substr(prefix.size())] = tensor;
    return part;
}

TensorMap tensors_of(const GradScaler& scaler) {
    TensorMap out;
    for (const auto& [name, value] : scaler.saved_state())
        out[name] = Tensor::scalar(value, DType::f64, Device{});
    return out;
}

GradScaler::State scaler_state_of(const TensorMap& tensors) {
    GradScaler::State out;
    for (const auto& [name, tensor] : tensors) out[name] = tensor.item();
    return out;
}

/// A model at its opt level, with optimizer and scalers. Its two losses share the optimizer in
/// turn, and each has its own scaler.
class Run {
public:
    Run(const ResumeSetup& setup, std::int64_t seed) : setup_(setup), net_(seed) {}

    void initialise() {
        convert(net_, setup_.level);
        const OptimizerOptions options{
            .scaling_aware = true, .master_weights = setup_.level.master_weights.value_or(false)};
        if (setup_.kind == OptimizerKind::sgd) {
            optimizer_ = std::make_unique<Sgd>(net_.parameters(),
                                               SgdOptions{.lr = 0.05, .momentum = 0.9}, options);
        } else {
            optimizer_ = std::make_unique<Adam>(
                net_.parameters(),
                AdamOptions{.lr = 0.001, .weight_decay = 0.01, .amsgrad = true, .decoupled = true},
                options);
        }
        for (std::size_t k = 0; k < setup_.losses; ++k) {
            ScalerOptions scaler = apex_scaler({});
            scaler.init_scale = std::ldexp(1024.0, static_cast<int>(k));
            scaler.growth_interval = 3;
            scaler.enabled = !setup_.level.loss_scale.has_value();
            scalers_.emplace_back(scaler);
        }
    }

    Tensor forward(const Tensor& images) {
        const AutocastRegion region(here, setup_.level.patch_functions, DType::f16);
        const auto entered = region.enter();
        const auto& type = setup_.level.cast_model_type;
        return to(net_.forward(type ? to(images, *type) : images), DType::f32);
    }

    void step(int number) {
        const ImageBatch& batch = batches_[static_cast<std::size_t>(number)];
        for (std::size_t k = 0; k < setup_.losses; ++k) {
            GradScaler& scaler = scalers_[k];
            optimizer_->zero_grad();
            const Tensor logits = forward(batch.images);
            const Tensor loss =
                k == 0 ? cross_entropy(logits, batch.labels) : mean(mul(logits, logits));
            const bool spoilt = number == spoilt_before || number == spoilt_after;
            backward(scaler.scale(spoilt && scaler.is_enabled() ? mul(loss, infinity) : loss));
            scaler.step(*optimizer_);
            scaler.update();
        }
    }

    Checkpoint save() const {
        Checkpoint out;
        put(out, "model.", saved_state(net_));
        put(out, "optimizer.", optimizer_->saved_state());
        for (std::size_t k = 0; k < scalers_.size(); ++k)
            put(out, "scaler" + std::to_string(k) + ".", tensors_of(scalers_[k]));
        return out;
    }
    void load_model(const Checkpoint& file) { load_state(net_, get(file, "model.")); }
    void load_rest(const Checkpoint& file) {
        optimizer_->load_state(get(file, "optimizer."));
        for (std::size_t k = 0; k < scalers_.size(); ++k) {
            if (scalers_[k].is_enabled())
                scalers_[k].load_state(
                    scaler_state_of(get(file, "scaler" + std::to_string(k) + ".")));
        }
    }

    std::int64_t applied() const { return optimizer_->steps(); }

private:
    static std::vector<ImageBatch> batches() {
        std::mt19937 random(3);
        std::vector<ImageBatch> out;
        for (int i = 0; i < steps_before + steps_after; ++i) out.push_back(batch_of(random));
        return out;
    }

    ResumeSetup setup_;
    SmallNet net_;
    std::unique_ptr<Optimizer> optimizer_;
    std::vector<GradScaler> scalers_;
    std::vector<ImageBatch> batches_ = batches();
};

std::vector<std::byte> bytes_of(const Tensor& t) {
    const Tensor host = snapshot(t);
    return {host.data_as<std::byte>(), host.data_as<std::byte>() + host.bytes()};
}

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : a) {
        ASSERT_TRUE(b.contains(name)) << name;
        EXPECT_TRUE(bytes_of(tensor) == bytes_of(b.at(name))) << name;
    }
}

/// When a new run loads the checkpoint. before_conversion: while its model is still f32.
enum class Restore { before_conversion, before_the_first_step, after_some_steps };

Run restored(const ResumeSetup& setup, const Checkpoint& saved, Restore when) {
    Run run(setup, /*seed=*/2);
    if (when == Restore::before_conversion) run.load_model(saved);
    run.initialise();
    if (when == Restore::after_some_steps) {
        for (int i = 0; i < 3; ++i) run.step(i);
    }
    if (when != Restore::before_conversion) run.load_model(saved);
    run.load_rest(saved);
    return run;
}

void expect_resumes(const ResumeSetup& setup, Restore when,
                    const std::function<Checkpoint(const Checkpoint&)>& by_way_of) {
    Run uninterrupted(setup, 1);
    uninterrupted.initialise();
    for (int i = 0; i < steps_before; ++i) uninterrupted.step(i);
    const Checkpoint saved = by_way_of(uninterrupted.save());
    Run resumed = restored(setup, saved, when);
    expect_equal(resumed.save(), saved);
    const Tensor probe = Tensor::full({2, 3, 6, 6}, 0.25, DType::f32);
    EXPECT_TRUE(bytes_of(resumed.forward(probe)) == bytes_of(uninterrupted.forward(probe)));
    for (int i = steps_before; i < steps_before + steps_after; ++i) {
        uninterrupted.step(i);
        resumed.step(i);
        expect_equal(resumed.save(), uninterrupted.save());
    }
    const int skipped = setup.level.loss_scale ? 0 : 2;
    EXPECT_EQ(resumed.applied(),
              (steps_before + steps_after - skipped) * static_cast<int>(setup.losses));
}

TEST(Resume, X5ARestoredRunGoesOnBitForBitAtEveryLevel) {
    struct Case {
        std::size_t losses;
        OptimizerKind kind;
        Restore when;
    };
    // Each time of a restore with the larger setup, and the smaller ones where state is replaced.
    const std::vector<Case> cases{{2, OptimizerKind::adamw, Restore::before_conversion},
                                  {2, OptimizerKind::adamw, Restore::before_the_first_step},
                                  {2, OptimizerKind::adamw, Restore::after_some_steps},
                                  {2, OptimizerKind::sgd, Restore::after_some_steps},
                                  {1, OptimizerKind::sgd, Restore::before_the_first_step}};
    for (const char* level : {"O0", "O1", "O2", "O3"})
        for (const auto& [losses, kind, when] : cases) {
            SCOPED_TRACE(std::string(level) + ", losses " + std::to_string(losses) +
                         (kind == OptimizerKind::sgd ? ", sgd" : ", adamw") + ", restored at " +
                         std::to_string(static_cast<int>(when)));
            expect_resumes({resolve_opt_level(level).properties, losses, kind}, when,
                           [](const Checkpoint& saved) { return saved; });
        }
}

TEST(Resume, X5ACheckpointGoesThroughASafetensorsFile) {
    const test_support::TempFolder folder;
    for (const char* level : {"O1", "O2"})
        expect_resumes({resolve_opt_level(level).properties, 2, OptimizerKind::adamw},
                       Restore::before_the_first_step, [&](const Checkpoint& saved) {
                           save_tensors(folder / "run.safetensors", saved);
                           return load_tensors(folder / "run.safetensors");
                       });
}

TEST(Resume, AModelsSavedStateIsACopy) {
    SmallNet net;
    const TensorMap saved = saved_state(net), again = saved_state(net);
    const Tensor other = Tensor::full(saved.at("fc.bias").shape(), 7, DType::f32);
    load_state(net, [&] {
        TensorMap changed = saved;
        changed["fc.bias"] = other;
        return changed;
    }());
    expect_equal(saved, again);
    EXPECT_EQ(saved_state(net).at("fc.bias").values(), other.values());
}

TEST(Resume, AnO2ModelRoundsTheF32ValuesOfAnO0Model) {
    SmallNet plain(1), o2(2);
    const OptProperties level = resolve_opt_level("O2").properties;
    convert(o2, level);
    const TensorMap saved = saved_state(plain);
    load_state(o2, saved);
    for (const auto& [name, weight, low] : o2.parameters()) {
        SCOPED_TRACE(name);
        EXPECT_TRUE(bytes_of(weight) == bytes_of(to(saved.at(name), weight.dtype())));
    }
}

TEST(Resume, TheSixteenBitCopyOfAWeightFollowsALoad) {
    SmallNet net(1);
    const Tensor weight = net.parameters()[0].tensor;
    weight.impl()->low_copy =
        std::make_shared<LowCopy>(LowCopy{to(weight.detach(), DType::f16), weight.version()});
    const void* memory = weight.impl()->low_copy->tensor.data();
    const TensorMap saved = saved_state(SmallNet(2));
    load_state(net, saved);
    const Tensor low = to(weight, DType::f16);
    EXPECT_EQ(low.data(), memory) << "handed out, not cast again";
    EXPECT_TRUE(bytes_of(low) == bytes_of(to(saved.at(net.parameters()[0].name), DType::f16)));
}

TEST(Resume, WhatDoesNotFitAModelIsNamedAndChangesNothing) {
    SmallNet net;
    const TensorMap before = saved_state(net);
    TensorMap wrong = saved_state(SmallNet(2));
    wrong.erase("conv.bias");
    wrong.erase("norm.num_batches_tracked");  // older files lack it
    wrong["fc.bias"] = Tensor::zeros({2}, DType::f32);
    wrong["norm.weight"] = Tensor::zeros({8}, DType::i64);
    wrong["head.weight"] = Tensor::zeros({2}, DType::f32);
    const std::string words =
        "conv.bias is missing; norm.weight is i64, not f32; fc.bias has shape (2), not (4); "
        "head.weight is unknown";
    expect_error(ErrorCode::value, words, [&] { load_state(net, wrong); });
    expect_equal(saved_state(net), before);

    const test_support::TempFolder folder;
    const std::string path = (folder / "wrong.safetensors").string();
    save_tensors(path, wrong);
    expect_error(ErrorCode::data, words, [&] { load_weights(net, path); });
    expect_equal(saved_state(net), before);
}

}  // namespace
}  // namespace engine
