#include "tensor/module_scope.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "kernels/profiler_calls.h"

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

namespace {

thread_local const ModuleScope* innermost_scope = nullptr;
/// How many open scopes of this thread have a range in the profiler. They are the inner ones: a
/// profiler may be attached while a scope is open, which then ends without a range.
thread_local int scopes_with_range = 0;

void open_range(const std::string& name) {
    const auto* calls = kernels::profiler_calls();
    if (calls == nullptr) return;
    calls->push(name.c_str());
    ++scopes_with_range;
}

void close_range() {
    if (scopes_with_range == 0) return;
    --scopes_with_range;
    if (const auto* calls = kernels::profiler_calls()) calls->pop();
}

/// Addresses of a set's elements are stable. Never destroyed: a tape may be freed at exit.
const std::string* shared_text(const std::string& name) {
    static std::mutex mutex;
    static auto& names = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return &*names.insert(name).first;
}

}  // namespace

ModuleName::ModuleName(const std::string& name)
    : text_(name.empty() ? nullptr : shared_text(name)) {
    ModuleNames::note(name);
}

const std::string& ModuleName::text() const noexcept {
    static const std::string none;
    return text_ ? *text_ : none;
}

ModuleScope::ModuleScope(ModuleName name) noexcept : name_(name), outer_(innermost_scope) {
    innermost_scope = this;
    open_range(name.text());
}
ModuleScope::~ModuleScope() {
    innermost_scope = outer_;
    close_range();
}

ModuleName current_module_name() noexcept {
    return innermost_scope ? innermost_scope->name_ : ModuleName();
}

std::vector<std::string> open_modules() {
    std::vector<std::string> names;
    for (const ModuleScope* scope = innermost_scope; scope; scope = scope->outer_)
        names.push_back(scope->name_.text());
    std::reverse(names.begin(), names.end());
    return names;
}

}  // namespace engine
