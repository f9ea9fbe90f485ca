#pragma once

#include <string>
#include <unordered_map>

#include "tensor/module_scope.h"

namespace engine {

/// "layer1.0.conv1" and "weight" of a parameter "layer1.0.conv1.weight".
struct SplitName {
    ModuleName module;
    std::string word;
};

/// Splits each name once: looking a module up takes a lock.
class SplitNames {
public:
    /// Valid as long as this object.
    const SplitName& of(const std::string& parameter) {
        const auto found = known_.find(parameter);
        return found != known_.end() ? found->second : known_[parameter] = split(parameter);
    }

private:
    static SplitName split(const std::string& parameter) {
        const std::size_t dot = parameter.rfind('.');
        if (dot == std::string::npos) return {ModuleName(), parameter};
        return {ModuleName(parameter.substr(0, dot)), parameter.substr(dot + 1)};
    }

    std::unordered_map<std::string, SplitName> known_;
};

}  // namespace engine
