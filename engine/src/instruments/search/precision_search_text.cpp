#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text_table.h"
#include "engine/instruments/precision_search.h"
#include "record/json_number.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

ordered_json force_object(const ForcedTypes& forced) {
    ordered_json out = ordered_json::object();
    for (const auto& [key, type] : forced) out[key] = word_of(type);
    return out;
}

std::string list_text(const std::vector<std::string>& keys) {
    std::string out;
    for (const auto& key : keys) out += "  " + key + "\n";
    return out;
}

}  // namespace

std::string to_json(const FoundPrecision& found) {
    ordered_json trials = ordered_json::array();
    for (const auto& trial : found.trials) {
        trials.push_back(
            {{"fp32", trial.fp32}, {"error", json_number(trial.error)}, {"passed", trial.passed}});
    }
    const ordered_json out = {{"force", force_object(found.force)},
                              {"fp32", found.fp32},
                              {"operations", found.operations},
                              {"tolerance", found.tolerance},
                              {"amp_error", json_number(found.amp_error)},
                              {"error", json_number(found.error)},
                              {"trial_steps", found.trials.size()},
                              {"confirmed_steps", found.confirmed_steps},
                              {"loss", json_number(found.loss)},
                              {"fp32_loss", json_number(found.fp32_loss)},
                              {"skipped", found.skipped},
                              {"trials", trials}};
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string text_of(const FoundPrecision& found) {
    const std::string count = std::to_string(found.fp32.size());
    std::string out =
        found.fp32.empty()
            ? "All " + std::to_string(found.operations) + " operations can run in FP16.\n"
            : count + " of " + std::to_string(found.operations) +
                  " operations must stay in FP32:\n" + list_text(found.fp32);
    out += "Error of the gradients: " + number_text("%.3g", found.error) + ", tolerance " +
           number_text("%.3g", found.tolerance) + ", " + std::to_string(found.trials.size()) +
           " trials. amp-fp16 by itself: " + number_text("%.3g", found.amp_error) + ".\n";
    if (found.confirmed_steps > 0) {
        out += "After " + std::to_string(found.confirmed_steps) + " steps of training: loss " +
               number_text("%.5g", found.loss) + ", in FP32 " +
               number_text("%.5g", found.fp32_loss) + ", " + std::to_string(found.skipped) +
               " skipped.\n";
    }
    out += "\"precision\": {\"preset\": \"amp-fp16\", \"force\": " +
           force_object(found.force).dump(2) + "}\n";
    return out;
}

}  // namespace engine
