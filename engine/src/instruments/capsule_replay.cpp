#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/resolve_device.h"
#include "engine/capsule.h"
#include "engine/machine.h"
#include "instruments/capsule_file.h"
#include "instruments/run_replay.h"
#include "instruments/skip_examination.h"
#include "instruments/step_trial.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr int perturbations = 3;
constexpr double slack = 4;

CapsuleMachine machine_for(const RunConfig& config) {
    const Device device = resolve_device(config.device);
    const MachineReport machine = inspect_machine();
    const auto index = static_cast<std::size_t>(device.index);
    const bool is_card = device.kind == Device::Kind::cuda && index < machine.cards.size();
    return {HALFTONE_VERSION, is_card ? machine.cards[index].name : to_string(device),
            machine.features, machine.onednn,
            config.threads > 0 ? config.threads : kernels::cpu::hardware_threads()};
}

/// The version of the program does not change a bit by itself.
bool same_bits(const CapsuleMachine& a, const CapsuleMachine& b) {
    return a.device == b.device && a.features == b.features && a.onednn == b.onednn &&
           a.threads == b.threads;
}

struct Computed {
    StepRecord row{};
    GradientFigures gradients;
};

Computed computed(const StepCapsule& capsule) {
    CapsuleStep step(capsule);
    const auto record = std::make_shared<GradientRecord>();
    step.trainer().attach(record);
    const StepRecord row = step.run().row;
    return {row, record->figures()};
}

/// Over the parameters whose norm is finite in both; infinite where it is in one alone.
double difference(const GradientFigures& a, const GradientFigures& b) {
    double out = a.norms.size() == b.norms.size() ? 0 : std::numeric_limits<double>::infinity();
    for (const auto& [name, norm] : a.norms) {
        const auto other = b.norms.find(name);
        if (other == b.norms.end() || std::isfinite(norm) != std::isfinite(other->second))
            return std::numeric_limits<double>::infinity();
        if (!std::isfinite(norm) || norm == other->second) continue;
        out = std::max(out, std::abs(norm - other->second) / std::max(norm, other->second));
    }
    return out;
}

/// A change that moves a value as far as a rounding does: half the distance of neighbouring numbers
/// around 1 in the precision that products have. Weights that are stored in that precision take a
/// whole one, since half of it is rounded away.
double rounding_of(const RunConfig& config) {
    const ResolvedPrecision precision = resolve(config.precision);
    if (precision.autocast == AutocastFormat::bf16) return 0x1p-9;
    if (precision.weights == WeightFormat::fp16) return 0x1p-10;
    if (precision.autocast == AutocastFormat::fp16 || precision.tf32) return 0x1p-12;
    return 0x1p-23;
}

/// Each weight changed by about one rounding, up or down by a fixed pattern.
StepCapsule perturbed(const StepCapsule& capsule, double rounding, std::uint32_t pattern) {
    StepCapsule out = capsule;
    for (TensorMap* map : {&out.before.weights, &out.before.optimizer}) {
        for (auto& [name, tensor] : *map) {
            const bool is_weight = map == &out.before.weights || name.ends_with(".master");
            if (!is_weight || tensor.dtype() != DType::f32) continue;
            std::vector<double> values = tensor.values();
            std::uint32_t state = pattern;
            for (double& value : values) {
                state = state * 1664525U + 1013904223U;
                value *= 1 + (state >> 31 == 0 ? rounding : -rounding);
            }
            tensor = Tensor::of(values, tensor.shape(), DType::f32, Device{});
        }
    }
    return out;
}

/// What the gradients' norms may differ by elsewhere, where sums run in another order.
double bound_of(const StepCapsule& capsule, const GradientFigures& own) {
    double largest = 0;
    for (std::uint32_t pattern = 1; pattern <= perturbations; ++pattern) {
        const StepCapsule other = perturbed(capsule, rounding_of(capsule.config), pattern);
        const double apart = difference(own, computed(other).gradients);
        if (std::isfinite(apart)) largest = std::max(largest, apart);
    }
    return slack * largest;
}

}  // namespace

bool CapsuleReplay::identical() const {
    const bool same_loss = loss == recorded_loss || (std::isnan(loss) && std::isnan(recorded_loss));
    return same_loss && scale == recorded_scale && same_gradients;
}

bool CapsuleReplay::within_bound() const { return identical() || difference <= bound; }

std::int64_t write_capsule(const fs::path& run_folder, std::int64_t step, const fs::path& file,
                           const SkipOptions& options) {
    StepCapsule capsule = capsule_before(run_folder, step, [&](std::int64_t remaining) {
        options.progress(msg("Computing the run again: {} steps to go", remaining));
    });
    if (!options.device.empty()) capsule.config.device = options.device;
    CapsuleFacts facts;
    facts.machine = machine_for(capsule.config);
    capsule.config.threads = facts.machine.threads;
    const Computed own = computed(capsule);
    facts.loss = static_cast<double>(own.row.loss);
    facts.loss_scale = static_cast<double>(own.row.loss_scale);
    facts.gradients = own.gradients;
    options.progress(msg("Computing how far rounding moves the gradients"));
    facts.bound = bound_of(capsule, own.gradients);
    ExaminationOptions how;
    how.progress = options.progress;
    facts.report = examine_step(capsule, how);
    facts.run = run_folder.filename().string();
    facts.report.run = facts.run;
    return write_capsule_file(file, capsule, facts);
}

CapsuleReplay replay_capsule(const fs::path& file, const SkipOptions& options) {
    CapsuleContent content = read_capsule_file(file);
    StepCapsule& capsule = content.capsule;
    const CapsuleFacts& facts = content.facts;
    if (!options.device.empty()) capsule.config.device = options.device;
    capsule.config.threads =
        std::min(capsule.config.threads, std::int64_t{kernels::cpu::hardware_threads()});
    CapsuleReplay out;
    out.run = facts.run;
    out.step = capsule.step();
    out.recorded_on = facts.machine;
    out.here = machine_for(capsule.config);
    out.same_machine = same_bits(out.recorded_on, out.here);
    const Computed own = computed(capsule);
    out.recorded_loss = facts.loss;
    out.loss = static_cast<double>(own.row.loss);
    out.recorded_scale = facts.loss_scale;
    out.scale = static_cast<double>(own.row.loss_scale);
    out.same_gradients = own.gradients.sha256 == facts.gradients.sha256;
    out.difference = out.same_gradients ? 0 : difference(own.gradients, facts.gradients);
    out.bound = facts.bound;
    out.recorded_cause = facts.report.cause;
    ExaminationOptions how;
    how.progress = options.progress;
    out.report = examine_step(capsule, how);
    out.report.run = facts.run;
    return out;
}

}  // namespace engine
