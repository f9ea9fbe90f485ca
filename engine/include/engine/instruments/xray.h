#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "engine/base/table.h"
#include "engine/instruments/captured_step.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Every operation of one training step (interfaces.md, section 2).

enum class XrayPass : std::uint8_t { forward, backward, update };
template <>
inline constexpr std::array enum_names<XrayPass> = {"forward", "backward", "update"};

struct XrayTensor {
    std::string dtype;  ///< "f32", "f16", "bf16", "i64", ...
    std::vector<std::int64_t> shape;

    bool operator==(const XrayTensor&) const = default;
};

/// A conversion of an argument that autocast or precision.force inserted before an operation.
struct XrayCast {
    std::string from, to;
    std::int64_t elements = 0;
    std::int64_t bytes = 0;  ///< read and written
    double us = 0;

    bool operator==(const XrayCast&) const = default;
};

/// One operation. Operations that run inside a listed one are part of it.
struct XrayOp {
    std::string op;      ///< as `halftone ops` lists it; gradients have operations of their own
    std::string module;  ///< full name; "": outside all modules
    /// Which call of its module it belongs to, from 1, in a forward pass that calls it several
    /// times, as a detector's first head for each map; 0: there is one call.
    std::int64_t call = 0;
    XrayPass pass = XrayPass::forward;
    std::vector<XrayTensor> inputs;  ///< before casts
    std::vector<XrayTensor> outputs;
    std::string compute_dtype;  ///< of its floating inputs after casts; "" without any
    /// The rule that decided: "forced", "gradient" (the types of the forward pass), "off" (no
    /// autocast), or the policy: "low", "f32", "f32_dtype", "f32_append", "promote", "banned",
    /// "none"; "inside": it has no entry, and the operations that it consists of have chosen
    /// another type than its inputs'.
    std::string rule;
    std::string key;  ///< of precision.force; "" where no type is forced
    std::string why;  ///< the rule in one sentence
    std::vector<XrayCast> casts;
    std::int64_t cached_casts = 0;  ///< that the weight cache answered
    std::int64_t kept_copies = 0;   ///< of weights, which the optimizer keeps in 16 bits
    double start_us = 0;            ///< since the start of the step
    double us = 0;                  ///< its casts included
    double flops = 0;
    std::int64_t bytes_read = 0;  ///< of inputs after casts
    std::int64_t bytes_written = 0;
    std::int64_t memory_bytes = 0;  ///< of the run, when it had finished
    /// FLOP/s as a share of the largest that a product reached here in this type; NaN: unknown.
    double peak_share = std::numeric_limits<double>::quiet_NaN();
    /// The libraries' algorithms that computed it, "cuDNN eng0_k2=3"; "": our kernels alone.
    std::string engine;
};

/// A sum over operations. Casts are the inserted ones, and the operations "to", which cast
/// gradients back.
struct XrayTotal {
    std::string name;
    std::int64_t ops = 0;
    std::int64_t casts = 0;
    std::int64_t cast_bytes = 0;
    double us = 0;
    double cast_us = 0;
    double flops = 0;
};

struct Xray {
    std::int64_t step = 0;  ///< from 1
    std::string device;
    std::string precision;  ///< the preset
    ForcedTypes force;
    std::vector<XrayOp> ops;  ///< in the order in which they ran
    double step_ms = 0;       ///< of the traced step, which runs eagerly
    double untraced_ms = 0;   ///< of the same step without a trace: the fastest of up to three
    double slowest_ms = 0;    ///< the slowest of them
    double loss = 0;
    std::int64_t peak_bytes = 0;
    /// FLOP/s that a matrix product reached on this device, by type.
    std::map<std::string, double> peaks;
};

/// Sums in the order of time, the largest first.
std::vector<XrayTotal> totals_by_dtype(const Xray& xray);
std::vector<XrayTotal> totals_by_module(const Xray& xray);
std::vector<XrayTotal> totals_by_op(const Xray& xray);
XrayTotal total(const Xray& xray);

/// One step under given settings.
struct XrayOutcome {
    double loss = 0;
    /// Norm of the difference between its gradients and those of the same step in FP32, by the norm
    /// of the latter. inf where a gradient is not finite.
    double gradient_error = 0;
    double step_ms = 0;     ///< the fastest of three
    double slowest_ms = 0;  ///< the slowest of them
    std::int64_t peak_bytes = 0;
    bool found_inf = false;  ///< a gradient is not finite, so the step would be skipped
};

/// A step with types forced and without, on copies of the run.
struct XrayExperiment {
    ForcedTypes forced;
    XrayOutcome before, after;
    Message conclusion;
};

/// The first step of these settings, on a model as it is drawn or read. Throws Error.
Xray xray_first_step(const RunConfig& config);
/// A step of a run, computed again from its newest checkpoint before it. Throws Error.
Xray xray_step(const std::filesystem::path& run_folder, std::int64_t step);
/// A step that was captured. Throws Error.
Xray xray_step(const CapturedStep& step);
/// Traces a captured step in another precision, forced types included. Throws Error.
Xray xray_step(const CapturedStep& step, const PrecisionConfig& precision);

/// Computes a captured step as it was and with these types forced. Throws Error.
XrayExperiment try_forced(const CapturedStep& step, const ForcedTypes& forced);

/// An operation in two traces of one step; one of them is null where only one trace has it.
struct XrayPair {
    const XrayOp* first = nullptr;
    const XrayOp* second = nullptr;
};
/// Pairs the operations of one step that was traced in two precisions: the nth run of an operation
/// in a module and pass with the nth run in the other trace. In the order of `first`; an operation
/// that only `second` has follows its predecessor there. The traces must outlive the result.
std::vector<XrayPair> pair_ops(const Xray& first, const Xray& second);

using XrayFilter = std::function<bool(const XrayOp&)>;
/// The operations that pass, in the order of the step. Times in microseconds; an unknown share of
/// the peak is left out.
Table to_table(const Xray& xray, const XrayFilter& passes);
/// The operations of two traces side by side: those of which either passes.
Table to_table(const Xray& first, const Xray& second, const XrayFilter& passes);

/// One JSON object.
std::string to_json(const Xray& xray);
std::string to_json(const XrayExperiment& experiment);
/// Throws Error(data) for text that to_json() did not write.
Xray xray_from_json(const std::string& text);

/// The file of a step in its run's folder: xray/STEP.json.
std::filesystem::path xray_file(const std::filesystem::path& run_folder, std::int64_t step);
/// Writes it whole. Throws Error(io).
void save_xray(const std::filesystem::path& run_folder, const Xray& xray);

/// Tables for a terminal: operations grouped by module, then totals.
std::string text_of(const Xray& xray);
std::string text_of(const XrayExperiment& experiment);

}  // namespace engine
