#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/base/version.h"
#include "engine/instruments/capsule.h"
#include "engine/train/machine.h"
#include "instruments/capsule/capsule_file.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/step_variant.h"
#include "instruments/skips/skip_examination.h"
#include "kernels/parallel.h"
#include "tensor/device.h"

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
    return {program_version(), is_card ? machine.cards[index].name : to_string(device),
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

/// How far the figures of a step are from those of another computation of it.
struct Gap {
    double norms = 0;       ///< largest relative difference, of norms that are finite in both
    double loss = 0;        ///< relative difference
    bool overflow = false;  ///< a norm, or the loss, is finite in one alone
};

double relative_gap(double a, double b) {
    return a == b ? 0 : std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

Gap gap(double loss, const GradientFigures& gradients, const Computed& other) {
    Gap out;
    const auto add = [&out](double& largest, double a, double b) {
        if (std::isfinite(a) != std::isfinite(b)) out.overflow = true;
        if (std::isfinite(a) && std::isfinite(b)) largest = std::max(largest, relative_gap(a, b));
    };
    add(out.loss, loss, static_cast<double>(other.row.loss));
    const auto& norms = other.gradients.norms;
    const auto name_of = [](const auto& entry) { return entry.first; };
    const bool same_names = std::ranges::equal(gradients.norms, norms, {}, name_of, name_of);
    if (!same_names) out.norms = std::numeric_limits<double>::infinity();
    for (const auto& [name, norm] : gradients.norms)
        if (const auto found = norms.find(name); found != norms.end())
            add(out.norms, norm, found->second);
    return out;
}

/// The relative size of a rounding: half the distance of neighbouring numbers around 1 in the
/// precision of products. If the weights are stored in that precision, a whole distance, since half
/// of it would be rounded away.
double rounding_error(const RunConfig& config) {
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

/// Bounds for the result of this step on another machine, where sums run in another order. The loss
/// is one number and may by chance hardly change here, so one rounding of it is always allowed.
void find_bounds(const StepCapsule& capsule, const Computed& own, CapsuleFacts& facts) {
    const double rounding = rounding_error(capsule.config);
    Gap largest{0, rounding / slack, false};
    for (std::uint32_t pattern = 1; pattern <= perturbations; ++pattern) {
        const StepCapsule other = perturbed(capsule, rounding, pattern);
        const Gap apart = gap(static_cast<double>(own.row.loss), own.gradients, computed(other));
        largest.norms = std::max(largest.norms, apart.norms);
        largest.loss = std::max(largest.loss, apart.loss);
        largest.overflow |= apart.overflow;
    }
    facts.bound = slack * largest.norms;
    facts.loss_bound = slack * largest.loss;
    facts.overflow_varies = largest.overflow;
}

}  // namespace

bool CapsuleReplay::identical() const {
    const bool same_loss = loss == recorded_loss || (std::isnan(loss) && std::isnan(recorded_loss));
    return same_loss && scale == recorded_scale && same_gradients;
}

bool CapsuleReplay::within_bound() const {
    if (identical()) return true;
    const bool finite = std::isfinite(loss) && std::isfinite(recorded_loss);
    const bool near_loss = !finite || relative_gap(loss, recorded_loss) <= loss_bound;
    return near_loss && difference <= bound;
}

std::int64_t write_capsule(const fs::path& run_folder, std::int64_t step, const fs::path& file,
                           const SkipOptions& options) {
    StepCapsule capsule = capsule_before(run_folder, step, [&](std::int64_t remaining) {
        options.replay(remaining);
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
    find_bounds(capsule, own, facts);
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
    const Gap apart = gap(facts.loss, facts.gradients, own);
    const bool other_overflow = apart.overflow && !facts.overflow_varies;
    out.difference = other_overflow ? std::numeric_limits<double>::infinity() : apart.norms;
    out.bound = facts.bound;
    out.loss_bound = facts.loss_bound;
    out.overflow_varies = facts.overflow_varies;
    out.recorded_cause = facts.report.cause;
    ExaminationOptions how;
    how.progress = options.progress;
    out.report = examine_step(capsule, how);
    out.report.run = facts.run;
    return out;
}

}  // namespace engine
