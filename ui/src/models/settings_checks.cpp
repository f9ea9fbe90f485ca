#include "models/settings_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"
#include "feed/background_task.h"
#include "models/settings_model.h"

namespace ui {
namespace {

/// The reason why a device cannot train in a precision; empty if it can.
engine::Message problemOf(const std::string& device, const std::string& preset) {
    engine::RunConfig config;
    config.device = device;
    config.precision.preset = preset;
    const auto check = [&config] { engine::check_device(config); };
    const auto error = outcomeOf(check).error;
    return error ? error->message() : engine::Message();
}

DeviceLimits limitsOf(const std::string& device) {
    DeviceLimits limits;
    limits.device =
        problemOf(device, engine::baseline_precision());  // which runs wherever there is a device
    if (!limits.device.empty()) return limits;
    for (const auto& info : engine::precisions()) {
        const engine::Message problem = problemOf(device, info.kind);
        if (!problem.empty()) limits.precisions[QString::fromStdString(info.kind)] = problem;
    }
    return limits;
}

}  // namespace

DeviceCheck::DeviceCheck(SettingsModel* settings, QObject* parent)
    : QObject(parent), settings_(settings) {
    connect(settings_, &SettingsModel::changed, this, &DeviceCheck::check);
    findDevices();
    check();
}

void DeviceCheck::findDevices() {
    inBackground(
        this, [] { return engine::inspect_machine().cards; },
        [this](const std::vector<engine::MachineReport::Card>& cards) {
            std::vector<Device> devices;
            for (std::size_t i = 0; i < cards.size(); ++i)
                devices.push_back({u"cuda:%1"_s.arg(i), QString::fromStdString(cards[i].name)});
            emit devicesFound(devices);
        });
}

void DeviceCheck::check() {
    const std::string device = settings_->config().device;
    const QString asked = QString::fromStdString(device);
    if (asked == checked_) return;
    checked_ = asked;
    inBackground(
        this, [device] { return limitsOf(device); },
        [this, asked](const DeviceLimits& limits) {
            if (asked == checked_) settings_->setLimits(limits);
        });
}

engine::DatasetPreview sizesOf(const engine::DatasetPreview& data) {
    engine::DatasetPreview sizes;
    sizes.train_samples = data.train_samples;
    if (data.text) sizes.text.emplace();
    sizes.schema = data.schema;
    return sizes;
}

LintCheck::LintCheck(SettingsModel* settings, QObject* parent)
    : QObject(parent), settings_(settings) {
    connect(settings_, &SettingsModel::changed, this, &LintCheck::check);
    check();
}

void LintCheck::setCards(std::size_t cards) {
    if (cards == cards_) return;
    cards_ = cards;
    check();
}

void LintCheck::setMeasured(const engine::RunConfig& config,
                            std::vector<engine::LintFinding> findings) {
    measured_ = std::move(findings);
    measuredOf_ = engine::to_json(config);
    check();
}

void LintCheck::fix(const engine::LintFinding& finding) {
    const auto changed = engine::with_fix(settings_->config(), finding);
    if (changed.errors.empty()) settings_->load(changed.config, {}, changed.notes);
}

void LintCheck::check() {
    if (checking_) {
        again_ = true;
        return;
    }
    if (!settings_->errors().empty()) return take({});
    checking_ = true;
    std::optional<engine::DatasetPreview> data;
    if (settings_->data() != nullptr) data = sizesOf(*settings_->data());
    inBackground(
        this,
        [config = settings_->config(), data = std::move(data), cards = cards_] {
            return engine::lint(config, {.data = data ? &*data : nullptr,
                                         .gpu = engine::runs_on_gpu(config, cards)});
        },
        [this](std::vector<engine::LintFinding> findings) {
            checking_ = false;
            if (std::exchange(again_, false)) return check();
            take(std::move(findings));
        });
}

void LintCheck::take(std::vector<engine::LintFinding> findings) {
    if (!measured_.empty() && engine::to_json(settings_->config()) == measuredOf_) {
        // Measured findings take the place of those that the settings alone made likely.
        const std::string known = "static-scale-too-large";
        if (std::ranges::find(measured_, known, &engine::LintFinding::id) != measured_.end())
            std::erase_if(findings, [](const engine::LintFinding& finding) {
                return finding.id == "static-scale-beyond-usual";
            });
        findings.insert(findings.begin(), measured_.begin(), measured_.end());
        std::ranges::stable_sort(findings, std::ranges::greater{}, &engine::LintFinding::severity);
    }
    const auto same = [](const engine::LintFinding& a, const engine::LintFinding& b) {
        return a.id == b.id && a.fix == b.fix && a.sentence.str() == b.sentence.str();
    };
    if (std::ranges::equal(findings, findings_, same)) return;
    findings_ = std::move(findings);
    emit findingsChanged();
}

}  // namespace ui
