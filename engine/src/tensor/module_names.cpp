#include "tensor/module_names.h"

namespace engine {
namespace {

thread_local ModuleNames* innermost = nullptr;

}  // namespace

ModuleNames::ModuleNames() noexcept : outer_(innermost) { innermost = this; }
ModuleNames::~ModuleNames() { innermost = outer_; }

void ModuleNames::note(const std::string& name) {
    if (innermost == nullptr) return;
    for (auto end = name.size(); end != std::string::npos && end > 0;
         end = name.rfind('.', end - 1))
        innermost->names_.insert(name.substr(0, end));
}

}  // namespace engine
