#include "models/benchmark_job.h"

#include <algorithm>

#include "engine/runs/comparison.h"
#include "engine/train/machine.h"

namespace ui {

namespace {

/// The card that "auto" or "cuda:N" stands for, else the processor.
QString machineName(const std::string& device) {
    const engine::MachineReport machine = engine::inspect_machine();
    const QString cpu = QString::fromStdString(machine.cpu);
    if (device == "cpu" || machine.cards.empty()) return cpu;
    const int number = QString::fromStdString(device).section(QChar(u':'), 1).toInt();
    const auto card = std::min(static_cast<std::size_t>(number), machine.cards.size() - 1);
    return QString::fromStdString(machine.cards[card].name);
}

/// The precisions that can run with these settings.
std::vector<std::string> possible(const BenchmarkOrder& order, std::size_t setting) {
    std::vector<std::string> out;
    for (const std::string& preset : order.precisions) {
        if (engine::validate(engine::in_precision(order.settings[setting], preset)).empty())
            out.push_back(preset);
    }
    return out;
}

BenchmarkProgress::Measured measure(const BenchmarkOrder& order, std::size_t setting,
                                    BenchmarkTask::Link& link) {
    BenchmarkProgress::Measured out;
    engine::SpeedupOptions options;
    options.precisions = possible(order, setting);
    options.batch_memory = order.batchMemory;
    options.goes_on = [&](const engine::SpeedupProgress& at) {
        link.report([&](BenchmarkProgress& progress) {
            progress.setting = setting;
            progress.at = at;
        });
        return !link.stopped();
    };
    if (options.precisions.empty()) {
        out.problem = engine::msg("These settings cannot run in any of the precisions.");
        return out;
    }
    const auto work = [&] {
        out.rows = engine::measure_speedup(order.settings[setting], options);
        out.machine = machineName(order.settings[setting].device);
    };
    if (const auto outcome = outcomeOf(work); outcome.error)
        out.problem = outcome.error->message();
    return out;
}

}  // namespace

double BenchmarkProgress::share(const BenchmarkOrder& order) const {
    const auto found = std::ranges::find(order.precisions, at.precision);
    if (found == order.precisions.end()) return 0;
    const auto before = setting * order.precisions.size() +
                        static_cast<std::size_t>(found - order.precisions.begin());
    const double all = static_cast<double>(order.settings.size() * order.precisions.size());
    const double part = static_cast<double>(at.pairs) / static_cast<double>(order.pairs());
    return (static_cast<double>(before) + part) / all;
}

bool measureAll(const BenchmarkOrder& order, BenchmarkTask::Link& link) {
    for (std::size_t i = 0; i < order.settings.size() && !link.stopped(); ++i) {
        const auto one = measure(order, i, link);
        link.report([&one](BenchmarkProgress& progress) { progress.measured.push_back(one); });
    }
    return true;
}

}  // namespace ui
