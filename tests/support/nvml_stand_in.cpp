// A library with the functions of libnvidia-ml.so.1 that the program calls, and one card.
#include "nvml_stand_in.h"

#include <cstring>

namespace {

constexpr int success = 0, not_supported = 3, not_found = 6;

test_support::CardState& state() {
    static test_support::CardState card;
    return card;
}

int answer(void* card, bool supported = true) {
    if (card != &state() || state().opened <= 0) return not_found;
    return supported ? success : not_supported;
}

}  // namespace

extern "C" {

test_support::CardState* stand_in_card() { return &state(); }

int nvmlInit_v2() { return ++state().opened, success; }
int nvmlShutdown() { return --state().opened, success; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** card) {
    if (std::strcmp(pci, state().pci) != 0) return not_found;
    *card = &state();
    return success;
}

int nvmlDeviceGetUtilizationRates(void* card, unsigned* percents) {
    percents[0] = state().percent;
    percents[1] = 0;
    return answer(card);
}

int nvmlDeviceGetMemoryInfo(void* card, unsigned long long* total_free_used) {
    total_free_used[2] = state().used_bytes;
    return answer(card);
}

int nvmlDeviceGetTemperature(void* card, int sensor, unsigned* celsius) {
    *celsius = state().celsius;
    return answer(card, sensor == 0);
}

int nvmlDeviceGetPowerUsage(void* card, unsigned* milliwatts) {
    *milliwatts = state().milliwatts;
    return answer(card);
}

int nvmlDeviceGetTotalEnergyConsumption(void* card, unsigned long long* millijoules) {
    *millijoules = state().millijoules;
    return answer(card, state().measures_energy);
}

}  // extern "C"
