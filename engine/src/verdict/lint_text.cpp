#include <nlohmann/json.hpp>

#include "engine/verdict/lint.h"

namespace engine {

std::string to_text(const LintFinding& finding) {
    std::string out = std::string(name(finding.severity)) + ": " + finding.sentence.str() + " [" +
                      finding.id + "]\n    " + finding.reason.str() + "\n    Fix it:";
    for (const auto& change : finding.fix) out += " --set " + change;
    return out + "\n    Handbook, hazards.md: " + finding.handbook + '\n';
}

std::string to_json_line(const LintFinding& finding) {
    const nlohmann::ordered_json object = {{"event", "finding"},
                                           {"id", finding.id},
                                           {"severity", name(finding.severity)},
                                           {"message", finding.sentence.str()},
                                           {"reason", finding.reason.str()},
                                           {"handbook", finding.handbook},
                                           {"fix", finding.fix}};
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace engine
