#pragma once

#include <set>
#include <string>

namespace engine {

/// While it lives, collects the names of the modules that are made on this thread, and of the
/// modules that contain them. Scopes nest; the innermost collects.
class ModuleNames {
public:
    ModuleNames() noexcept;
    ~ModuleNames();
    ModuleNames(const ModuleNames&) = delete;
    ModuleNames& operator=(const ModuleNames&) = delete;

    /// In alphabetical order, each once; without "".
    const std::set<std::string>& names() const { return names_; }

    /// For ModuleName's constructor.
    static void note(const std::string& name);

private:
    std::set<std::string> names_;
    ModuleNames* outer_;
};

}  // namespace engine
