#include "tensor/module_scope.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "kernels/profiler_calls.h"

namespace engine {

void ModuleNames::note(const std::string& name) {
    ModuleNames* const collector = ComputeContext::of_thread().module_names;
    if (collector == nullptr) return;
    for (auto end = name.size(); end != std::string::npos && end > 0;
         end = name.rfind('.', end - 1))
        collector->names_.insert(name.substr(0, end));
}

namespace {

/// The open scopes with a range in the profiler are the inner ones: a profiler may be attached
/// while a scope is open, which then ends without a range.
void open_range(const std::string& name) {
    const auto* calls = kernels::profiler_calls();
    if (calls == nullptr) return;
    calls->push(name.c_str());
    ++ComputeContext::of_thread().profiler_ranges;
}

void close_range() {
    int& ranges = ComputeContext::of_thread().profiler_ranges;
    if (ranges == 0) return;
    --ranges;
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

ModuleScope::ModuleScope(ModuleName name) noexcept
    : name_(name), outer_(std::exchange(ComputeContext::of_thread().module, this)) {
    open_range(name.text());
}
ModuleScope::~ModuleScope() {
    ComputeContext::of_thread().module = outer_;
    close_range();
}

ModuleName current_module_name() noexcept {
    const ModuleScope* const innermost = ComputeContext::of_thread().module;
    return innermost ? innermost->name_ : ModuleName();
}

std::vector<std::string> open_modules() {
    std::vector<std::string> names;
    for (const ModuleScope* scope = ComputeContext::of_thread().module; scope;
         scope = scope->outer_)
        names.push_back(scope->name_.text());
    std::reverse(names.begin(), names.end());
    return names;
}

}  // namespace engine
