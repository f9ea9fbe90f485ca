#include "models/benchmark_job.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "engine/base/error.h"
#include "engine/runs/comparison.h"
#include "engine/train/machine.h"
#include "feed/background_task.h"

namespace ui {

namespace {

constexpr int pollEvery = 100;  // ms

/// The card that "auto" or "cuda:N" stands for, else the processor.
QString machineName(const std::string& device) {
    const engine::MachineReport machine = engine::inspect_machine();
    const QString cpu = QString::fromStdString(machine.cpu);
    if (device == "cpu" || machine.cards.empty()) return cpu;
    const int number = QString::fromStdString(device).section(QChar(u':'), 1).toInt();
    const auto card = std::min(static_cast<std::size_t>(number), machine.cards.size() - 1);
    return QString::fromStdString(machine.cards[card].name);
}

}  // namespace

struct BenchmarkJob::Shared {
    struct Outcome {
        std::size_t setting = 0;
        std::vector<engine::Speedup> rows;
        QString machine;
        engine::Message problem;  ///< empty: none
    };

    Order order;
    std::atomic<bool> stop{false};
    std::mutex mutex;  ///< guards the next two
    Place place;
    std::vector<Outcome> outcomes;

    void run() {
        for (std::size_t i = 0; i < order.settings.size() && !stop; ++i) {
            const Outcome outcome = measure(i);
            const std::lock_guard lock(mutex);
            outcomes.push_back(outcome);
        }
    }

private:
    /// The precisions that can run with these settings.
    std::vector<std::string> possible(std::size_t setting) const {
        std::vector<std::string> out;
        for (const std::string& preset : order.precisions) {
            if (engine::validate(engine::in_precision(order.settings[setting], preset)).empty())
                out.push_back(preset);
        }
        return out;
    }

    Outcome measure(std::size_t setting) {
        Outcome out;
        out.setting = setting;
        engine::SpeedupOptions options;
        options.precisions = possible(setting);
        options.batch_memory = order.batchMemory;
        options.goes_on = [&](const engine::SpeedupProgress& at) {
            const std::lock_guard lock(mutex);
            place = {setting, at};
            return !stop;
        };
        if (options.precisions.empty()) {
            out.problem = engine::msg("These settings cannot run in any of the precisions.");
            return out;
        }
        try {
            out.rows = engine::measure_speedup(order.settings[setting], options);
            out.machine = machineName(order.settings[setting].device);
        } catch (const engine::Error& error) {
            out.problem = error.message();
        } catch (const std::exception& error) {
            out.problem = engine::msg("Training cannot continue: {}.", error.what());
        }
        return out;
    }
};

BenchmarkJob::BenchmarkJob(QObject* parent) : QObject(parent) {
    timer_.setInterval(pollEvery);
    connect(&timer_, &QTimer::timeout, this, &BenchmarkJob::poll);
}

BenchmarkJob::~BenchmarkJob() { stop(); }

void BenchmarkJob::stop() {
    if (shared_) shared_->stop = true;
}

bool BenchmarkJob::stopped() const { return shared_ && shared_->stop; }

BenchmarkJob::Place BenchmarkJob::place() const {
    if (!shared_) return {};
    const std::lock_guard lock(shared_->mutex);
    return shared_->place;
}

void BenchmarkJob::start(const Order& order) {
    if (running_) return;
    running_ = true;
    share_ = 0;
    order_ = order;
    shared_ = std::make_shared<Shared>();
    shared_->order = order;
    timer_.start();
    inBackground(
        this,
        [shared = shared_] {
            shared->run();
            return true;
        },
        [this](bool) {
            timer_.stop();
            running_ = false;
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
    std::vector<Shared::Outcome> outcomes;
    {
        const std::lock_guard lock(shared_->mutex);
        outcomes = std::exchange(shared_->outcomes, {});
    }
    for (const auto& outcome : outcomes) {
        const engine::RunConfig& settings = order_.settings[outcome.setting];
        if (!outcome.problem.empty()) emit failed(settings, outcome.problem);
        if (!outcome.rows.empty()) emit measured(settings, outcome.rows, outcome.machine);
    }
}

}  // namespace ui
