#include "models/device_check.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"
#include "feed/background.h"
#include "models/settings_model.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// The reason why a device cannot train in a precision; empty if it can.
engine::Message problemOf(const std::string& device, const std::string& preset) {
    engine::RunConfig config;
    config.device = device;
    config.precision.preset = preset;
    try {
        engine::check_device(config);
    } catch (const engine::Error& error) {
        return error.message();
    } catch (const std::exception& error) {
        return {error.what()};
    }
    return {};
}

DeviceLimits limitsOf(const std::string& device) {
    DeviceLimits limits;
    limits.device = problemOf(device, "fp32");  // which runs wherever there is a device
    if (!limits.device.empty()) return limits;
    for (const auto& info : engine::precisions()) {
        const engine::Message problem = problemOf(device, info.preset);
        if (!problem.empty()) limits.precisions[QString::fromStdString(info.preset)] = problem;
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

}  // namespace ui
