#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/instruments/skip_report.h"
#include "engine/instruments/skips.h"

namespace engine {

/// Where a step was computed: what its bits depend on.
struct CapsuleMachine {
    std::string program;                ///< version of this program
    std::string device;                 ///< "cpu", or the name of the card
    std::vector<std::string> features;  ///< instruction set: "avx2", "avx512f"
    std::string onednn;                 ///< version
    std::int64_t threads = 0;
    bool operator==(const CapsuleMachine&) const = default;
};

/// A step computed again from a capsule file, with the results that the file recorded.
struct CapsuleReplay {
    std::string run;
    std::int64_t step = 0;
    CapsuleMachine recorded_on, here;
    double recorded_loss = 0, loss = 0;
    double recorded_scale = 1, scale = 1;
    bool same_gradients = false;  ///< the same bits
    bool same_machine = false;    ///< device, instruction set, oneDNN and number of threads
    /// Largest relative difference of a gradient's norm, over the parameters whose gradient is
    /// finite in both; infinite if it is finite in one of them only, unless `overflow_varies`.
    double difference = 0;
    /// Allowed `difference` on another machine: four times the one that changing the weights in the
    /// last bit of the step's precision caused.
    double bound = 0;
    double loss_bound = 0;  ///< the same of the loss; inf in a capsule that does not have it
    /// Changing the last bit made other gradients overflow: they are at the edge of the range, so
    /// another order of sums may do the same.
    bool overflow_varies = false;
    SkipCause recorded_cause = SkipCause::unknown;
    SkipReport report;  ///< of the step as it was computed here

    bool identical() const;
    bool within_bound() const;
};

/// Writes a step of a run to a capsule: one safetensors file with the settings, the state before
/// the step, its batches and what it computed. The file is written beside and renamed. Returns its
/// bytes. Throws Error as examine_skip() does, and Error(io).
std::int64_t write_capsule(const std::filesystem::path& run_folder, std::int64_t step,
                           const std::filesystem::path& file, const SkipOptions& options = {});

/// Computes the step of a capsule again. Nothing of the file is executed. Throws Error(data) for a
/// file that is no capsule, is damaged, or does not fit together.
CapsuleReplay replay_capsule(const std::filesystem::path& file, const SkipOptions& options = {});

/// Writes a Python script that computes the step in PyTorch and finds its first non-finite tensor,
/// operation by operation; it reads the capsule. The operations are those of a trace of the step.
/// Throws Error(settings) for a task of several phases or an operation that the script does not
/// have, Error(data) as replay_capsule() does, and Error(io).
void write_pytorch_script(const std::filesystem::path& capsule_file,
                          const std::filesystem::path& script);

std::string to_json_line(const CapsuleReplay& replay);
std::string replay_page(const CapsuleReplay& replay);

}  // namespace engine
