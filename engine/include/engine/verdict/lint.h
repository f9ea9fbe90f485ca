#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "engine/settings/run_config.h"

namespace engine {

struct DatasetPreview;

enum class LintSeverity {
    note,     ///< costs time or memory, or does nothing
    warning,  ///< is likely to cost accuracy or to end in NaN
    error,    ///< is wrong
};
template <>
inline constexpr std::array enum_names<LintSeverity> = {"note", "warning", "error"};

/// A hazard of settings that can run.
struct LintFinding {
    std::string id;  ///< "fp16-without-scaler"
    LintSeverity severity = LintSeverity::warning;
    Message sentence;      ///< what is the case, with the values of these settings
    Message reason;        ///< why it is a hazard
    std::string handbook;  ///< heading of resources/handbook/hazards.md
    /// "path=value", as in --set: with all of them applied the finding is gone. Never empty.
    std::vector<std::string> fix;
};

/// Facts that are known besides the settings.
struct LintContext {
    const DatasetPreview* data = nullptr;  ///< sizes and shapes; null: those of typical files
    bool gpu = false;                      ///< the settings run on a GPU
};

/// Whether these settings run on a GPU: they name one, or leave the choice open on a machine that
/// has `cards`.
bool runs_on_gpu(const RunConfig& config, std::size_t cards);

/// The findings: errors, then warnings, then notes. None for settings that do not validate. Builds
/// the model without drawing weights, which takes milliseconds for the largest: call it off the GUI
/// thread. Never throws for the content of the settings.
std::vector<LintFinding> lint(const RunConfig& config, const LintContext& context = {});

/// Findings that require training steps: up to ten of a fresh model of these settings and their
/// data, on their device. Finds inputs or activations beyond FP16, a first step that is not finite,
/// a static scale that is too large for the first gradients, updates that 16-bit weights lose, and
/// a loss that grows tenfold. Leaves no run behind. Throws Error as training would; after `stop` it
/// soon returns what it has found, or throws while it reads data.
std::vector<LintFinding> lint_measured(const RunConfig& config, const std::stop_token& stop = {});

/// Whether lint_measured() may take under a second: a bound from the products of the weights alone,
/// which also keeps a second model of a large one out of memory. Builds shapes, as lint() does.
bool is_quick_to_measure(const RunConfig& config, const LintContext& context = {});

/// The settings with the changes of a finding, judged as those of a file.
ParsedConfig with_fix(const RunConfig& config, const LintFinding& finding);

/// One finding for a terminal, in lines that end in a newline.
std::string to_text(const LintFinding& finding);
/// One JSON object, a line without a newline.
std::string to_json_line(const LintFinding& finding);

}  // namespace engine
