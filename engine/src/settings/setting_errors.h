#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Errors of settings found so far. A field is reported once, and checks that depend on it are
/// skipped.
///
/// A file can have any number of fields that are none: beyond the first hundred errors it only
/// notes which fields are wrong.
class SettingErrors {
public:
    bool is_full() const { return errors_.size() >= most; }
    void add(std::string_view field, std::string value, Message allowed);
    bool has(std::string_view field) const { return fields_.count(std::string(field)) != 0; }
    /// Returns the errors in the order of the settings; unknown fields come first.
    std::vector<SettingError> take();

private:
    static constexpr std::size_t most = 100;

    std::set<std::string> fields_;
    std::vector<SettingError> errors_;
};

/// Checks values and their combinations; skips checks that depend on an invalid field.
void check_config(const RunConfig& config, SettingErrors& setting_errors);

}  // namespace engine
