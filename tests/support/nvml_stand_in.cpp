// A library with the functions of libnvidia-ml.so.1 that the program calls, and one card.
#include "nvml_stand_in.h"

#include <cstring>
#include <mutex>

namespace {

constexpr int success = 0, not_supported = 3, not_found = 6;

std::mutex mutex;  // guards the next two
test_support::CardState card;
int opened = 0;

/// Writes an answer about the card, unless the handle is another one or the library is closed.
template <typename Write>
int answer(const void* handle, const Write& write, bool supported = true) {
    const std::lock_guard lock(mutex);
    if (handle != &card || opened <= 0) return not_found;
    if (!supported) return not_supported;
    write();
    return success;
}

bool measures_energy() {
    const std::lock_guard lock(mutex);
    return card.measures_energy;
}

}  // namespace

extern "C" {

void stand_in_set(const test_support::CardState* state) {
    const std::lock_guard lock(mutex);
    card = *state;
}

int stand_in_opened() {
    const std::lock_guard lock(mutex);
    return opened;
}

int nvmlInit_v2() {
    const std::lock_guard lock(mutex);
    ++opened;
    return success;
}

int nvmlShutdown() {
    const std::lock_guard lock(mutex);
    --opened;
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** handle) {
    const std::lock_guard lock(mutex);
    if (std::strcmp(pci, card.pci) != 0) return not_found;
    *handle = &card;
    return success;
}

int nvmlDeviceGetUtilizationRates(void* handle, unsigned* percents) {
    return answer(handle, [&] { percents[0] = card.percent; });
}

int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* total_free_used) {
    return answer(handle, [&] { total_free_used[2] = card.used_bytes; });
}

int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* celsius) {
    return answer(
        handle, [&] { *celsius = card.celsius; }, sensor == 0);
}

int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
    return answer(handle, [&] { *milliwatts = card.milliwatts; });
}

int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* millijoules) {
    return answer(
        handle, [&] { *millijoules = card.millijoules; }, measures_energy());
}

}  // extern "C"
