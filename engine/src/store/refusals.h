#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run_config.h"

namespace engine {

/// Settings refused so far: a field is refused once, and checks that rest on it are left out.
class Refusals {
public:
    void add(std::string_view field, std::string value, Message allowed);
    bool refused(std::string_view field) const { return fields_.count(std::string(field)) != 0; }
    /// In the order of the settings; fields that do not exist come first.
    std::vector<SettingError> take();

private:
    std::set<std::string> fields_;
    std::vector<SettingError> errors_;
};

/// The checks of values and of their combinations; leaves out those that rest on a refused field.
void check_config(const RunConfig& config, Refusals& refusals);

}  // namespace engine
