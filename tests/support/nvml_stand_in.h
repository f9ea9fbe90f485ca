#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace test_support {

/// Figures of the one card of the stand-in for NVIDIA's management library.
struct CardState {
    const char* pci = "00000000:65:00.0";
    unsigned percent = 0, celsius = 0, milliwatts = 0;
    unsigned long long used_bytes = 0, millijoules = 0;
    bool measures_energy = true;
};

/// The stand-in in a file, which stays loaded. Its state may be set while a meter reads it.
class CardStandIn {
public:
    explicit CardStandIn(const char* file) : library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(std::string(file) + " cannot be opened");
    }
    void set(const CardState& state) const {
        reinterpret_cast<void (*)(const CardState*)>(dlsym(library_, "stand_in_set"))(&state);
    }
    /// Calls of nvmlInit_v2() less those of nvmlShutdown().
    int opened() const { return reinterpret_cast<int (*)()>(dlsym(library_, "stand_in_opened"))(); }

private:
    void* library_;
};

/// A package as Linux lists it below /sys/class/powercap.
inline void write_package(const std::filesystem::path& folder, const std::string& name,
                          std::uint64_t microjoules, std::uint64_t range) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "name") << name << '\n';
    std::ofstream(folder / "energy_uj") << microjoules << '\n';
    std::ofstream(folder / "max_energy_range_uj") << range << '\n';
}

}  // namespace test_support
