#include "kernels/power_meters.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

namespace kernels {
namespace {

// Declarations of NVML (docs.nvidia.com/deploy/nvml-api). A function returns 0 on success.

struct NvmlUtilization {
    unsigned gpu, memory;  ///< percent
};
struct NvmlMemory {
    unsigned long long total, free, used;  ///< bytes
};
constexpr int nvml_temperature_gpu = 0;  ///< sensor on the die

/// Calls the function of that name. False if the library lacks it, or it fails.
template <typename... Args>
bool call(void* library, const char* name, Args... args) {
    auto* function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
    return function != nullptr && function(args...) == 0;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    if (in >> value) return value;
    return std::nullopt;
}

}  // namespace

CardMeter::CardMeter(const std::string& pci, const std::string& library)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr || !call(library_, "nvmlInit_v2")) return;
    if (!call(library_, "nvmlDeviceGetHandleByPciBusId_v2", pci.c_str(), &card_)) card_ = nullptr;
    if (card_ == nullptr) call(library_, "nvmlShutdown");
}

CardMeter::~CardMeter() {
    if (card_ != nullptr) call(library_, "nvmlShutdown");
    if (library_ != nullptr) dlclose(library_);
}

CardReading CardMeter::read() const {
    CardReading out;
    if (card_ == nullptr) return out;
    NvmlUtilization utilization{};
    if (call(library_, "nvmlDeviceGetUtilizationRates", card_, &utilization))
        out.load = utilization.gpu / 100.0;
    NvmlMemory memory{};
    if (call(library_, "nvmlDeviceGetMemoryInfo", card_, &memory))
        out.memory_bytes = static_cast<double>(memory.used);
    unsigned celsius = 0, milliwatts = 0;
    if (call(library_, "nvmlDeviceGetTemperature", card_, nvml_temperature_gpu, &celsius))
        out.celsius = celsius;
    if (call(library_, "nvmlDeviceGetPowerUsage", card_, &milliwatts))
        out.watts = milliwatts / 1e3;
    unsigned long long millijoules = 0;
    if (call(library_, "nvmlDeviceGetTotalEnergyConsumption", card_, &millijoules))
        out.joules = static_cast<double>(millijoules) / 1e3;
    return out;
}

CpuEnergyMeter::CpuEnergyMeter(const std::filesystem::path& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        // "intel-rapl:0" is a package; "intel-rapl:0:1" is a part of it, and "intel-rapl-mmio:0"
        // counts it a second time.
        const std::string name = it->path().filename().string();
        if (!name.starts_with("intel-rapl:") || std::ranges::count(name, ':') != 1) continue;
        std::ifstream title(it->path() / "name");
        std::string text;
        title >> text;
        if (!text.starts_with("package")) continue;
        const auto counter = read_number(it->path() / "energy_uj");
        const auto range = read_number(it->path() / "max_energy_range_uj");
        if (counter && range && *range > 0)
            packages_.push_back({it->path() / "energy_uj", *range, *counter});
    }
}

double CpuEnergyMeter::joules() {
    for (Package& package : packages_) {
        const auto now = read_number(package.counter);
        if (!now) continue;
        const std::uint64_t more =
            *now >= package.last ? *now - package.last : package.range - package.last + *now;
        joules_ += static_cast<double>(more) / 1e6;
        package.last = *now;
    }
    return joules_;
}

}  // namespace kernels
