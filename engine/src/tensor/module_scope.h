#pragma once

#include <set>
#include <string>
#include <vector>

#include "tensor/compute_context.h"

namespace engine {

/// While it lives, collects the names of the modules that are made on this thread, and of the
/// modules that contain them. Scopes nest; the innermost collects.
class ModuleNames {
public:
    /// Names in alphabetical order, each once; without "".
    const std::set<std::string>& names() const { return names_; }

    /// Records a name; called by ModuleName's constructor.
    static void note(const std::string& name);

private:
    std::set<std::string> names_;
    ContextScope<&ComputeContext::module_names> scope_{this};
};

/// The full name of a module as PyTorch's named_modules() gives it, "layer1.0.conv1". One pointer:
/// equal names share one text, which lives as long as the process, so that a tape may outlive its
/// model. A default-constructed name is "", the model itself.
class ModuleName {
public:
    ModuleName() = default;
    /// Looks the name up under a lock: for building a model, not for running one.
    explicit ModuleName(const std::string& name);

    const std::string& text() const noexcept;
    friend bool operator==(const ModuleName&, const ModuleName&) = default;

private:
    const std::string* text_ = nullptr;  // null for ""
};

/// While it lives, a module is open on this thread: ops, and their nodes on the tape, belong to it.
/// Scopes nest. Allocates nothing.
class ModuleScope {
public:
    explicit ModuleScope(ModuleName name) noexcept;
    ~ModuleScope();
    ModuleScope(const ModuleScope&) = delete;
    ModuleScope& operator=(const ModuleScope&) = delete;

private:
    friend ModuleName current_module_name() noexcept;
    friend std::vector<std::string> open_modules();

    ModuleName name_;
    const ModuleScope* outer_;
};

/// The innermost module that is open on this thread; "" outside all. A backward pass opens the
/// module of each node (tensor/tape.h) while it runs it.
ModuleName current_module_name() noexcept;
inline const std::string& current_module() noexcept { return current_module_name().text(); }
/// Names of the open modules of this thread, outermost first.
std::vector<std::string> open_modules();

}  // namespace engine
