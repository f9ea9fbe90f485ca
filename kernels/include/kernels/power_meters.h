#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

/// Meters of the machine: the card's by NVIDIA's management library (NVML), which comes with the
/// driver and is opened at run time, and the processor's by the counters that Linux shows (RAPL).
/// Neither needs a build with CUDA. None of them throws.
namespace kernels {

/// Figures of one card at a moment, for all programs on it. NaN: the card does not report it.
struct CardReading {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    double load = unknown;          ///< share of the last sampling period (up to 1 s) with work
    double memory_bytes = unknown;  ///< in use
    double celsius = unknown;
    double watts = unknown;
    double joules = unknown;  ///< since the driver was loaded
};

/// One NVIDIA card. An object is used by one thread at a time.
class CardMeter {
public:
    static constexpr char default_library[] = "libnvidia-ml.so.1";

    /// `pci`: "00000000:65:00.0", as DeviceInfo::pci_bus_id. Not found if there is no such library
    /// or card.
    explicit CardMeter(const std::string& pci, const std::string& library = default_library);
    ~CardMeter();
    CardMeter(const CardMeter&) = delete;
    CardMeter& operator=(const CardMeter&) = delete;

    bool found() const { return card_ != nullptr; }
    CardReading read() const;

private:
    void* library_ = nullptr;  ///< of dlopen
    void* card_ = nullptr;     ///< nvmlDevice_t
};

/// Energy of the processor packages, without memory and the rest of the machine. An object is used
/// by one thread at a time, and must be read before a counter wraps twice: within minutes.
class CpuEnergyMeter {
public:
    /// `folder`: where Linux lists its power zones. Not found where it lists no package, or where
    /// its counters may not be read: many systems keep them for root.
    explicit CpuEnergyMeter(const std::filesystem::path& folder = "/sys/class/powercap");

    bool found() const { return !packages_.empty(); }
    /// Joules since this object was made, over all packages.
    double joules();

private:
    struct Package {
        std::filesystem::path counter;
        std::uint64_t range = 0;  ///< microjoules after which the counter begins again at 0
        std::uint64_t last = 0;
    };
    std::vector<Package> packages_;
    double joules_ = 0;
};

}  // namespace kernels
