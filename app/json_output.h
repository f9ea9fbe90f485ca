#pragma once

#include <optional>
#include <string>

#include "engine/instruments/plan_profile.h"
#include "engine/parallel/launch.h"
#include "engine/runs/comparison.h"
#include "engine/settings/run_config.h"
#include "engine/train/batch_finder.h"
#include "engine/train/bench.h"
#include "engine/train/learning_rate_finder.h"
#include "engine/train/machine.h"
#include "engine/verdict/verdict.h"

/// JSON output of the commands, but for runs and events, which the engine writes. It is one file,
/// since nlohmann/json takes longer to compile than any command.
namespace app {

/// One line: the result of `bench` with these settings.
std::string to_json(const engine::RunConfig& config, const engine::BenchResult& result,
                    const std::optional<engine::PlanProfile>& profile);
/// One line: what `bench --find-batch` found for these settings.
std::string to_json(const engine::RunConfig& config, const engine::FoundBatch& found);
/// One line: what `find-lr` found.
std::string to_json(const engine::FoundRate& found);
/// Variables of this process's environment that CUDA's libraries read; empty: not set.
struct CudaVariables {
    std::string cublas_workspaces;  ///< CUBLAS_WORKSPACE_CONFIG
    std::string module_loading;     ///< CUDA_MODULE_LOADING
};
/// One line: what `doctor` found.
std::string to_json(const engine::MachineReport& report, const engine::LaunchFacts& launch,
                    const CudaVariables& variables);

/// A verdict as an object: tone, headline, cost, evidence, and whether the precision pays.
std::string to_json(const engine::Verdict& verdict);
/// One line: the table of `compare` and its verdicts, of which the first is on the second row.
std::string to_json(const std::vector<engine::ComparisonRow>& rows,
                    const std::vector<engine::Verdict>& verdicts, const std::string& unit);

/// A text as JSON writes it, with its quotation marks.
std::string json_text(const std::string& text);

}  // namespace app
