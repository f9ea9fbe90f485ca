#include "io/file/work_progress.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace {

thread_local WorkScope* current_scope = nullptr;

}  // namespace

WorkScope::WorkScope(WorkWatcher watcher)
    : watcher_(std::move(watcher)), before_(std::exchange(current_scope, this)) {}

WorkScope::~WorkScope() { current_scope = before_; }

void report_work(double share) {
    if (current_scope == nullptr) return;
    current_scope->share_ = std::clamp(share, 0.0, 1.0);
    poll_work();
}

double reported_work() { return current_scope == nullptr ? 0 : current_scope->share_; }

void poll_work() {
    if (current_scope != nullptr && current_scope->watcher_)
        current_scope->watcher_(current_scope->share_);
}

}  // namespace engine
