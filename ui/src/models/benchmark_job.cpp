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
std::vector<std::string> possible(const BenchmarkJob::Order& order, std::size_t setting) {
    std::vector<std::string> out;
    for (const std::string& preset : order.precisions) {
        if (engine::validate(engine::in_precision(order.settings[setting], preset)).empty())
            out.push_back(preset);
    }
    return out;
}

}  // namespace

BenchmarkJob::BenchmarkJob(QObject* parent) : QObject(parent), task_([this] { poll(); }) {}

BenchmarkJob::Measured BenchmarkJob::measure(const Order& order, std::size_t setting,
                                             Task::Link& link) {
    Measured out;
    out.setting = setting;
    engine::SpeedupOptions options;
    options.precisions = possible(order, setting);
    options.batch_memory = order.batchMemory;
    options.goes_on = [&](const engine::SpeedupProgress& at) {
        link.report([&](Progress& progress) { progress.place = {setting, at}; });
        return !link.stopped();
    };
    if (options.precisions.empty()) {
        out.problem = engine::msg("These settings cannot run in any of the precisions.");
        return out;
    }
    const auto work = [&] {
        out.rows = engine::measure_speedup(order.settings[setting], options);
        out.machine = machineName(order.settings[setting].device);
        return true;
    };
    if (const auto outcome = outcomeOf(work); outcome.error)
        out.problem = outcome.error->message();
    return out;
}

void BenchmarkJob::start(const Order& order) {
    if (running()) return;
    share_ = 0;
    told_ = 0;
    order_ = order;
    task_.start(
        [order](Task::Link& link) {
            for (std::size_t i = 0; i < order.settings.size() && !link.stopped(); ++i) {
                const Measured one = measure(order, i, link);
                link.report([&one](Progress& progress) { progress.measured.push_back(one); });
            }
            return true;
        },
        [this](const Outcome<bool>&) {
            drain();
            emit ended();
        });
}

void BenchmarkJob::poll() {
    drain();
    const Place now = place();
    const auto precision = std::ranges::find(order_.precisions, now.at.precision);
    if (precision != order_.precisions.end()) {
        const auto before = now.setting * order_.precisions.size() +
                            static_cast<std::size_t>(precision - order_.precisions.begin());
        const double all = static_cast<double>(order_.settings.size() * order_.precisions.size());
        const double of = static_cast<double>(now.at.pairs) / static_cast<double>(pairs());
        share_ = std::max(share_, (static_cast<double>(before) + of) / all);
    }
    emit progressed();
}

void BenchmarkJob::drain() {
    const auto all = task_.progress().measured;
    for (; told_ < all.size(); ++told_) {
        const auto& [setting, rows, machine, problem] = all[told_];
        const engine::RunConfig settings = order_.settings[setting];
        if (!problem.empty()) emit failed(settings, problem);
        if (!rows.empty()) emit measured(settings, rows, machine);
    }
}

}  // namespace ui
