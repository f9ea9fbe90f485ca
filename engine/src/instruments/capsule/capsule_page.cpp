// The result of computing a capsule again, as text and as JSON.
#include <sstream>

#include "base/json_fields.h"
#include "engine/instruments/capsule.h"
#include "instruments/capsule/capsule_file.h"
#include "instruments/skips/skip_json.h"

namespace engine {
namespace {

std::string machine_words(const CapsuleMachine& machine) {
    std::string out = machine.device + ", oneDNN " + machine.onednn + ", " +
                      std::to_string(machine.threads) + " threads";
    for (const std::string& feature : machine.features) out += ", " + feature;
    return out;
}

}  // namespace

std::string to_json_line(const CapsuleReplay& replay) {
    ordered_json out;
    FieldWriter{out}("run", replay.run, "step", replay.step, "identical", replay.identical(),
                     "within_bound", replay.within_bound(), "same_machine", replay.same_machine,
                     "recorded_on", replay.recorded_on, "here", replay.here,
                     "recorded_loss", replay.recorded_loss, "loss", replay.loss,
                     "recorded_scale", replay.recorded_scale, "scale", replay.scale,
                     "same_gradients", replay.same_gradients, "difference", replay.difference,
                     "bound", replay.bound, "loss_bound", replay.loss_bound,
                     "overflow_varies", replay.overflow_varies,
                     "recorded_cause", replay.recorded_cause, "report", replay.report);
    return dumped(out);
}

std::string replay_page(const CapsuleReplay& replay) {
    std::ostringstream out;
    out << "Recorded on " << machine_words(replay.recorded_on) << "\nComputed on "
        << machine_words(replay.here) << '\n';
    if (replay.identical()) {
        out << "Loss, loss scale and gradients are the same bits.\n";
    } else {
        out << "Loss " << detail::written(replay.loss) << ", recorded "
            << detail::written(replay.recorded_loss) << "; gradients differ by up to "
            << detail::written(replay.difference) << " of their norm, "
            << (replay.within_bound() ? "within" : "beyond") << " the bound of "
            << detail::written(replay.bound) << ".\n";
    }
    out << '\n' << skip_page(replay.report);
    return out.str();
}

}  // namespace engine
