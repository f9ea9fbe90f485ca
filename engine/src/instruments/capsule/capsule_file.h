#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/instruments/capsule.h"
#include "train/run/step_capsule.h"
#include "train/step/step_observer.h"

namespace engine {

/// Figures of a step's gradients before the update, still scaled.
struct GradientFigures {
    std::string sha256;                   ///< of their bytes, in the order of the parameters' names
    std::map<std::string, double> norms;  ///< L2, by parameter; inf or NaN if a value is
};

/// Takes the figures of the gradients of every phase of one step.
class GradientRecord final : public StepObserver {
public:
    void before_update(const StepView& step) override;
    /// Once the step has ended.
    GradientFigures figures() const;

private:
    std::map<std::string, std::string> digests_;
    std::map<std::string, double> norms_;
};

/// {program, device, features, onednn, threads}, as capsules and replays have it.
void to_json(nlohmann::ordered_json& out, const CapsuleMachine& machine);

/// Contents of a capsule file other than the capsule.
struct CapsuleFacts {
    std::string run;
    CapsuleMachine machine;
    double loss = 0;
    double loss_scale = 1;
    double bound = 0;              ///< CapsuleReplay::bound
    double loss_bound = 0;         ///< CapsuleReplay::loss_bound
    bool overflow_varies = false;  ///< CapsuleReplay::overflow_varies
    GradientFigures gradients;
    SkipReport report;
};

struct CapsuleContent {
    StepCapsule capsule;
    CapsuleFacts facts;
};

/// Tensors are "weights/NAME", "optimizer/NAME", "carried/N", "batch/I/FIELD" as it lies in memory
/// (images: N, H, W, C) and "batch/I/indices", "decisions/I/N"; the metadata `halftone_capsule` is JSON. Returns the
/// file's bytes. Throws Error(io).
std::int64_t write_capsule_file(const std::filesystem::path& file, const StepCapsule& capsule,
                                const CapsuleFacts& facts);

/// Throws Error(data) for an invalid file: settings that do not validate, non-finite or
/// out-of-range numbers, fields that differ from the task's in number, type or shape, or tensors of
/// other names.
CapsuleContent read_capsule_file(const std::filesystem::path& file);

}  // namespace engine
